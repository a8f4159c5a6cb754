import { goto } from '$app/navigation';
import { match } from '$app/paths';
import { page } from '$app/state';
import { session } from '#api/session.svelte.ts';
import { nextPath } from '#features/frame/next.ts';

/** Goes on to where somebody was going. What is no page of the app, the browser opens by itself. */
export async function goOn(next: string): Promise<void> {
  if (await match(next)) await goto(next, { replace: true });
  else location.replace(next);
}

/** Leaves a page for signing in as soon as somebody is signed in, be it in another tab. */
export function goOnWhenSignedIn(): void {
  $effect(() => {
    if (session.isSignedIn) void goOn(nextPath(page.url.searchParams));
  });
}
