import { Refusal } from '#api/refusal.ts';

/** Something that a dialog does: whether it is under way, and why it was not done. */
export class Doing {
  isBusy = $state(false);
  refusal = $state.raw<Refusal | null>(null);

  /** Does it once at a time. Has it been done? */
  async run(act: () => Promise<unknown>): Promise<boolean> {
    if (this.isBusy) return false;
    this.isBusy = true;
    this.refusal = null;
    try {
      await act();
      return true;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.refusal = error;
      return false;
    } finally {
      this.isBusy = false;
    }
  }
}
