import { answer, api } from '#api/client.ts';
import { session } from '#api/session.svelte.ts';
import { forgetDrafts } from '#features/chat/state/draft.svelte.ts';
import { toasts } from '#ui/toasts.svelte.ts';

/** Ends the session of this device, or all of the account. Where that fails, the page says so. */
export async function signOut(where: 'here' | 'everywhere' = 'here'): Promise<void> {
  try {
    if (where === 'everywhere') await answer(api.POST('/api/auth/logout'));
    else await endCurrent();
    if (session.user) forgetDrafts(session.user.id);
    session.signedOut();
  } catch (error) {
    // A session that has ended by itself is no failure.
    if (session.isSignedIn) toasts.refuse(error);
  }
}

async function endCurrent(): Promise<void> {
  // An account has at most fifty, which come in one answer.
  const sessions = await answer(api.GET('/api/auth/sessions'));
  const current = sessions.find((each) => each.current);
  if (!current) return;
  const params = { path: { session_id: current.id } };
  await answer(api.DELETE('/api/auth/sessions/{session_id}', { params }));
}
