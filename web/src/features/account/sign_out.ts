import { m } from '#messages';
import { answer, api } from '#api/client.ts';
import { session } from '#api/session.svelte.ts';
import { hasDrafts } from '#features/chat/state/draft.svelte.ts';
import { toasts } from '#ui/toasts.svelte.ts';

/** Ends the session of this device, or all of the account. Where that fails, the page says so. */
export async function signOut(where: 'here' | 'everywhere' = 'here'): Promise<void> {
  try {
    if (where === 'everywhere') await answer(api.POST('/api/auth/logout'));
    else await endCurrent();
    const leavesDrafts = session.user !== null && hasDrafts(session.user.id);
    session.signedOut();
    if (leavesDrafts) toasts.say(m.account_drafts_kept());
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
