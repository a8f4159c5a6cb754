import { refusalOf, Refusal, UNREACHABLE } from './refusal.ts';
import type { components } from './schema.d.ts';

export type User = components['schemas']['User'];
type TokenPair = Omit<components['schemas']['TokenPair'], 'refresh_token'>;

/** Why nobody is signed in: what the page for signing in says. */
export type Ending = 'signed_out' | 'session_ended' | 'account_disabled' | 'password_reset' | null;

// A token that has less than this left is refreshed before it is sent.
const MARGIN_MS = 60_000;
const PATH = '/api/auth/refresh';

/**
 * Who is signed in, in this tab. The access token is in memory alone; the refresh token is in a cookie
 * that scripts cannot read. Tabs refresh one at a time, and tell each other what has come of it.
 */
export class Session {
  user = $state.raw<User | null>(null);
  /** Null until it is known whether somebody is signed in. */
  isSignedIn = $state<boolean | null>(null);
  ending = $state<Ending>(null);
  /** How many times somebody has signed in, in this tab. */
  signIns = 0;
  // Whoever was signed in last in this tab.
  #person = '';
  #token = '';
  #expiresAt = 0;
  #refreshing: Promise<string> | null = null;
  readonly #tabs = new BroadcastChannel('session');

  constructor() {
    this.#tabs.onmessage = ({ data }: MessageEvent<TokenPair | Ending>) => {
      if (data !== null && typeof data === 'object') this.#take(data);
      else this.#forget(data);
    };
  }

  /** Signs in from the cookie, where there is one. Raises a Refusal where that cannot be found out. */
  async begin(): Promise<void> {
    try {
      await this.#refresh();
    } catch (error) {
      if (this.isSignedIn === null) throw error;
    }
  }

  /** Takes the answer to a sign-in. */
  signedIn(pair: TokenPair): void {
    this.#take(pair);
    this.#tabs.postMessage(pair);
  }

  /** Forgets who was signed in, in all tabs; the service has been told, or has told it. */
  signedOut(ending: Ending = 'signed_out'): void {
    this.#forget(ending);
    this.#tabs.postMessage(ending);
  }

  /** The user with changes that the service has stored. */
  update(changes: Partial<User>): void {
    if (this.user) this.user = { ...this.user, ...changes };
  }

  /** A token that is good for a minute at least. Raises a Refusal. */
  async token(): Promise<string> {
    return Date.now() < this.#expiresAt - MARGIN_MS ? this.#token : this.#refresh();
  }

  /** A token in the place of one that was refused. Raises a Refusal. */
  async renewed(refused: string): Promise<string> {
    if (this.#token === refused) this.#expiresAt = 0;
    return this.token();
  }

  #refresh(): Promise<string> {
    this.#refreshing ??= navigator.locks
      .request('session', () => this.#refreshOnce())
      .finally(() => (this.#refreshing = null));
    return this.#refreshing;
  }

  async #refreshOnce(): Promise<string> {
    // Another tab may have refreshed while this one waited for its turn.
    if (Date.now() < this.#expiresAt - MARGIN_MS) return this.#token;
    const response = await fetch(PATH, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ cookie: true })
    }).catch((error: Error) => {
      throw new Refusal(0, UNREACHABLE, error.message);
    });
    if (response.ok) {
      this.signedIn((await response.json()) as TokenPair);
      return this.#token;
    }
    const refusal = await refusalOf(response);
    this.#refuse(refusal);
    throw refusal;
  }

  #refuse({ code, status }: Refusal): void {
    // Asked for again after its end, a session has ended for the reason it had.
    if (code === 'not_signed_in' && !this.isSignedIn) this.isSignedIn = false;
    else if (status === 401) this.signedOut('session_ended');
    else if (code === 'account_disabled') this.signedOut(code);
  }

  #take({ access_token, expires_in, user }: TokenPair): void {
    // The pages still know what is the other person's: they begin anew.
    if (this.#person && this.#person !== user.id) return location.reload();
    this.#person = user.id;
    if (!this.isSignedIn) this.signIns++;
    this.#token = access_token;
    this.#expiresAt = Date.now() + expires_in * 1000;
    this.user = user;
    this.isSignedIn = true;
    this.ending = null;
  }

  #forget(ending: Ending): void {
    this.#token = '';
    this.#expiresAt = 0;
    this.user = null;
    this.isSignedIn = false;
    this.ending = ending;
  }
}

export const session = new Session();
