import { goto } from '$app/navigation';
import { page } from '$app/state';
import { session } from '#api/session.svelte.ts';
import { nextPath } from '#features/frame/next.ts';

/** Leaves a page for signing in as soon as somebody is signed in, be it in another tab. */
export function goOnWhenSignedIn(): void {
  $effect(() => {
    if (session.isSignedIn) void goto(nextPath(page.url.searchParams), { replaceState: true });
  });
}
