import { answer, api } from '#api/client.ts';

/** The money of whoever is signed in, which is loaded each time before it is shown. */
class Balance {
  /** What can be spent, in US dollars; null while that is not known. */
  available = $state.raw<number | null>(null);

  async load(): Promise<void> {
    this.available = null;
    // Without it, the plan alone is shown.
    const balance = await answer(api.GET('/api/billing/balance')).catch(() => null);
    this.available = balance?.available_usd ?? null;
  }
}

export const balance = new Balance();
