import { answer, api } from '#api/client.ts';
import { Refusal } from '#api/refusal.ts';
import { session } from '#api/session.svelte.ts';
import type { components } from '#api/schema.d.ts';

export type Model = components['schemas']['PickerModel'];

/** What was paid for a reply; null while that is not known, or where it cost nothing. */
type Payment = { paid_by_plan_usd: number | null; paid_by_balance_usd: number | null } | null;

/** The models on offer, loaded once, with what is left of each. */
export class Models {
  all = $state.raw<Model[]>([]);
  isLoaded = $state(false);
  /** Why they could not be loaded. */
  refusal = $state.raw<Refusal | null>(null);
  /** The chat models that the user wants to be offered, favourites first. */
  readonly chat = $derived(
    this.all.filter(({ modality, preferences }) => modality === 'chat' && preferences?.enabled)
  );
  /** The chat model that answers where nothing names one. */
  readonly default = $derived(this.chat.find((model) => model.default) ?? this.chat[0] ?? null);
  #loading: Promise<void> | null = null;
  /** The sign-in for which they were loaded. */
  #signIn = 0;

  /** Loads the models, unless that has been done since this sign-in or is under way. */
  load(): Promise<void> {
    if (this.#signIn !== session.signIns) this.#forget();
    this.#loading ??= this.#load();
    return this.#loading;
  }

  /** Loads them anew: what can be called, and what is left, may have changed. */
  reload(): Promise<void> {
    this.#loading = this.#load();
    return this.#loading;
  }

  /** What is left of them may have changed: the next page that shows it loads it. */
  outdate(): void {
    this.#loading = null;
  }

  /** The model of an id or of a former name, null where it is not on offer (any more). */
  find(id: string | null | undefined): Model | null {
    if (!id) return null;
    return this.all.find((model) => model.id === id || model.aliases.includes(id)) ?? null;
  }

  /** The name to show for an id. */
  nameOf(id: string): string {
    return this.find(id)?.display_name ?? id;
  }

  /** Takes what a reply has cost off what is left of its model. What comes after the last of it is loaded. */
  replied(id: string, payment: Payment): void {
    const paid = this.find(id);
    if (!paid || !payment) return;
    const { remaining_usd, free } = paid;
    const isFree = free !== null && !payment.paid_by_plan_usd && !payment.paid_by_balance_usd;
    this.#replace({
      ...paid,
      remaining_usd: Math.max(0, remaining_usd - (payment.paid_by_plan_usd ?? 0)),
      free: isFree ? { ...free, used: Math.min(free.used + 1, free.limit) } : free
    });
    const { free: window, remaining_usd: rest } = this.find(id)!;
    if (isFree ? window!.used === window!.limit : remaining_usd > 0 && rest === 0)
      void this.reload();
  }

  #forget(): void {
    this.#signIn = session.signIns;
    this.#loading = null;
    this.all = [];
    this.isLoaded = false;
  }

  /** Puts a model, as it is now, into the place of the one with its id. */
  #replace(changed: Model): void {
    this.all = this.all.map((model) => (model.id === changed.id ? changed : model));
  }

  async #load(): Promise<void> {
    this.refusal = null;
    try {
      this.all = await answer(api.GET('/api/models'));
      this.isLoaded = true;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.refusal = error;
      this.#loading = null;
    }
  }
}

/** The models, for all features. */
export const models = new Models();
