const SILENCE_MS = 45_000;
const LONGEST_WAIT_MS = 15_000;

/**
 * Ends a connection on which nothing comes any more, with this error. A server that lives sends something
 * every 15 to 30 seconds.
 */
export class Silence extends Error {
  override name = 'Silence';
  readonly #abort = new AbortController();
  readonly signal: AbortSignal;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(outer: AbortSignal) {
    super('Nothing has come.');
    this.signal = AbortSignal.any([outer, this.#abort.signal]);
    this.isBroken();
  }

  /** Something has come. */
  isBroken(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#abort.abort(this), SILENCE_MS);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

/**
 * Waits before the next of several attempts, longer from one to the next, or for the seconds that the
 * service asks for. The network that comes back ends it, and so does `signal`.
 */
export function pause(
  failures: number,
  seconds: number | null,
  signal: AbortSignal
): Promise<void> {
  const growing = Math.min(250 * 2 ** failures, LONGEST_WAIT_MS) * (0.5 + Math.random() / 2);
  return new Promise((resolve) => {
    const timer = setTimeout(end, seconds === null ? growing : seconds * 1000);
    function end() {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      globalThis.removeEventListener?.('online', end);
      resolve();
    }
    signal.addEventListener('abort', end);
    globalThis.addEventListener?.('online', end);
  });
}
