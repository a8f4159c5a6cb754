import type { components } from '#api/schema.d.ts';

type GoogleAuthorization = components['schemas']['GoogleAuthorization'];

/** A sign-in with Google that is under way: kept by the tab that has begun it. */
export interface Attempt {
  /** What the return has to carry, and what the token has to. */
  state: string;
  nonce: string;
  /** The page to go on to. */
  next: string;
}

/** What Google has sent back: a token, or why there is none. */
export type Return =
  | { token: string; nonce: string; next: string }
  | { problem: 'cancelled' | 'foreign'; next: string };

const KEY = 'google';

/** Leaves for Google's page, which comes back to `/google`. */
export function goToGoogle(google: GoogleAuthorization, next: string): void {
  const attempt = { state: crypto.randomUUID(), nonce: crypto.randomUUID(), next };
  sessionStorage.setItem(KEY, JSON.stringify(attempt));
  location.assign(authorizeUrl(google, attempt, location.origin));
}

/** Google's page, with what it needs to come back to the app at `origin` with an ID token. */
export function authorizeUrl(
  google: GoogleAuthorization,
  attempt: Attempt,
  origin: string
): string {
  const url = new URL(google.authorize_url);
  const query = {
    client_id: google.client_id,
    redirect_uri: `${origin}/google`,
    response_type: 'id_token',
    scope: 'openid email profile',
    state: attempt.state,
    nonce: attempt.nonce
  };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
}

/** What has come back in the address. The attempt is over: nothing comes back to it again. */
export function takeReturn(hash: string): Return {
  const kept = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  return readReturn(hash, kept === null ? null : (JSON.parse(kept) as Attempt));
}

/** A return counts only if this tab has asked for it: its `state` says so. */
export function readReturn(hash: string, attempt: Attempt | null): Return {
  const returned = new URLSearchParams(hash.replace(/^#/, ''));
  if (!attempt || returned.get('state') !== attempt.state) return { problem: 'foreign', next: '/' };
  const { nonce, next } = attempt;
  const token = returned.get('id_token');
  return token ? { token, nonce, next } : { problem: 'cancelled', next };
}
