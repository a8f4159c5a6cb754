import { session } from '#api/session.svelte.ts';

/** The key of what is remembered for whoever is signed in alone. */
export const ownKey = (key: string) => `${key}:${session.user?.id}`;

/** What a page remembers on this device. A browser may forbid it: then it is forgotten with the page. */
export function remembered(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Remembers a text under this key; null forgets it. */
export function remember(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // Nothing that is remembered is needed.
  }
}
