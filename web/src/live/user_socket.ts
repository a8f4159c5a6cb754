import { Refusal } from '#api/refusal.ts';
import type { UserEvent } from './event_types.ts';

/** Who the socket is opened for. */
export interface Identity {
  readonly user: { readonly id: string } | null;
  token(): Promise<string>;
  renewed(refused: string): Promise<string>;
}

interface Subscriber {
  apply: (event: UserEvent) => void;
  reload: () => void;
}

interface Following {
  userId: string | undefined;
  /** Of the last event that was applied. */
  seq: number;
  socket: WebSocket | null;
  /** Connections that broke, one after the other. */
  failures: number;
  timer: ReturnType<typeof setTimeout> | undefined;
}

// A ping comes every 20 seconds: whoever hears nothing for this long is not connected any more.
const SILENCE_MS = 45_000;
const LONGEST_WAIT_MS = 30_000;
const TOKEN_REFUSED = 4401;
const NOT_ALLOWED = 4403;
const EVENTS_PURGED = 4410;

/**
 * The user's own stream of events, on one socket per tab, which is opened again whenever it breaks. It
 * begins when a list that it keeps up to date has been loaded: see `follow`.
 */
export class UserSocket {
  readonly #subscribers = new Set<Subscriber>();
  readonly #identity: Identity;
  readonly #url: string;
  #following: Following | null = null;

  /** For the service at an origin like `https://example.com`. */
  constructor(identity: Identity, origin: string) {
    this.#identity = identity;
    this.#url = `${origin.replace('http', 'ws')}/api/ws`;
  }

  /**
   * Has `apply` called with every event, in order and once each, until the returned function is called.
   * `reload` is called where events are lost for good, after a week of sleep for example: load anew.
   */
  subscribe(apply: Subscriber['apply'], reload: Subscriber['reload'] = () => {}): () => void {
    const subscriber = { apply, reload };
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }

  /**
   * Opens the socket after the event of this number: the `X-Next-Seq` of `GET /api/conversations`. Of a
   * user who is followed already nothing changes.
   */
  follow(seq: number): void {
    const userId = this.#identity.user?.id;
    if (this.#following?.userId === userId) return;
    this.stop();
    this.#following = { userId, seq, socket: null, failures: 0, timer: undefined };
    void this.#open(this.#following, this.#identity.token());
  }

  /** Closes the socket, for good. */
  stop(): void {
    const following = this.#following;
    this.#following = null;
    if (following) disconnect(following);
  }

  /** Connects at once where it was to wait: the network is back. */
  hurry(): void {
    const following = this.#following;
    if (!following || following.socket) return;
    clearTimeout(following.timer);
    void this.#open(following, this.#identity.token());
  }

  async #open(following: Following, token: Promise<string>): Promise<void> {
    following.timer = undefined;
    try {
      const good = await token;
      // It may have been stopped, or hurried, meanwhile.
      if (following === this.#following && !following.socket) this.#connect(following, good);
    } catch (error) {
      if (following !== this.#following) return;
      if (error instanceof Refusal && [401, 403].includes(error.status)) this.stop();
      else this.#openLater(following);
    }
  }

  #connect(following: Following, token: string): void {
    const socket = new WebSocket(`${this.#url}?token=${token}&after_seq=${following.seq}`);
    following.socket = socket;
    this.#awaitFrame(following);
    socket.onmessage = ({ data }: MessageEvent<string>) => {
      this.#awaitFrame(following);
      following.failures = 0;
      this.#take(following, JSON.parse(data));
    };
    socket.onclose = ({ code }) => this.#closed(following, code, token);
  }

  /** A connection that the network has dropped without a word is closed from here. */
  #awaitFrame(following: Following): void {
    clearTimeout(following.timer);
    following.timer = setTimeout(() => {
      disconnect(following);
      this.#openLater(following);
    }, SILENCE_MS);
  }

  #take(following: Following, event: UserEvent | { type: 'ping'; seq?: undefined }): void {
    if (event.seq === undefined || event.seq <= following.seq) return;
    following.seq = event.seq;
    for (const { apply } of this.#subscribers) apply(event);
  }

  #closed(following: Following, code: number, token: string): void {
    disconnect(following);
    if (code === TOKEN_REFUSED) void this.#open(following, this.#identity.renewed(token));
    else if (code === NOT_ALLOWED) this.stop();
    else if (code === EVENTS_PURGED) {
      this.stop();
      for (const { reload } of this.#subscribers) reload();
    } else this.#openLater(following);
  }

  #openLater(following: Following): void {
    const longest = Math.min(1000 * 2 ** following.failures++, LONGEST_WAIT_MS);
    const wait = longest * (0.5 + Math.random() / 2);
    following.timer = setTimeout(() => void this.#open(following, this.#identity.token()), wait);
  }
}

function disconnect(following: Following): void {
  clearTimeout(following.timer);
  const { socket } = following;
  following.socket = null;
  if (!socket) return;
  socket.onmessage = socket.onclose = null;
  socket.close();
}
