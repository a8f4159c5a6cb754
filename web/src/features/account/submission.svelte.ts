import { Refusal } from '#api/refusal.ts';
import { Countdown } from './countdown.svelte.ts';
import { fieldSentence } from './sentences.ts';

/** What is wrong with values of a form, by the names of their fields. */
export type Problems = Record<string, string | undefined>;

/** A form that is sent: whether it is under way, and what was refused. */
export class Submission {
  isBusy = $state(false);
  /** What is said above the form. */
  refusal = $state.raw<Refusal | null>(null);
  /** What is said at the fields. */
  problems = $state.raw<Problems>({});
  /** Until when the service wants no other attempt. */
  readonly wait = new Countdown();

  constructor(readonly fields: readonly string[]) {}

  /** Sends, unless something is wrong already. Returns whether it was accepted. */
  async send(act: () => Promise<unknown>, problems: Problems = {}): Promise<boolean> {
    if (this.isBusy || this.wait.seconds > 0) return false;
    this.refusal = null;
    this.problems = problems;
    if (Object.values(problems).some(Boolean)) return false;
    this.isBusy = true;
    try {
      await act();
      return true;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#take(error);
      return false;
    } finally {
      this.isBusy = false;
    }
  }

  #take(refusal: Refusal): void {
    const errors = Object.entries(refusal.fieldErrors);
    this.problems = Object.fromEntries(
      errors.map(([field, text]) => [field, fieldSentence(field, text)])
    );
    // What has no field here is said above the form.
    const isSaid = errors.length > 0 && errors.every(([field]) => this.fields.includes(field));
    this.refusal = isSaid ? null : refusal;
    if (refusal.retryAfter && refusal.status === 429) this.wait.start(refusal.retryAfter);
  }
}
