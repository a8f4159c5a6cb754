/** The seconds until something may be done again; 0 when it may. */
export class Countdown {
  seconds = $state(0);
  #until = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  start(seconds: number): void {
    this.stop();
    this.#until = Date.now() + seconds * 1000;
    this.#timer = setInterval(() => this.#tick(), 1000);
    this.#tick();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.seconds = 0;
  }

  // By the clock: timers of a page in the background are late.
  #tick(): void {
    this.seconds = Math.max(0, Math.ceil((this.#until - Date.now()) / 1000));
    if (this.seconds === 0) this.stop();
  }
}

/** `1:05`, as people read it. */
export function minutesAndSeconds(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
