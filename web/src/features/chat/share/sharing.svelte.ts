import { answer, api } from '#api/client.ts';
import { Refusal } from '#api/refusal.ts';
import type { components } from '#api/schema.d.ts';
import { isOn } from '#features/content/flags.ts';

type Share = components['schemas']['ConversationShare'];
const PATH = '/api/conversations/{conversation_id}/share';

/** The link with which everybody can read a conversation. */
export class Sharing {
  /** Null where there is none. */
  share = $state.raw<Share | null>(null);
  /** Can links be made at the moment? Those that exist go on working. */
  isOn = $state(true);
  isLoading = $state(true);
  isBusy = $state(false);
  refusal = $state.raw<Refusal | null>(null);
  readonly #params: { path: { conversation_id: string } };

  constructor(conversation_id: string) {
    this.#params = { path: { conversation_id } };
  }

  async load(): Promise<void> {
    try {
      [this.isOn, this.share] = await Promise.all([isOn('public_sharing'), this.#existing()]);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.refusal = error;
    } finally {
      this.isLoading = false;
    }
  }

  async #existing(): Promise<Share | null> {
    try {
      return await answer(api.GET(PATH, { params: this.#params }));
    } catch (error) {
      if (error instanceof Refusal && error.status === 404) return null;
      throw error;
    }
  }

  /** Makes the link, or has it show what is there by now. Has that been done? */
  make(): Promise<boolean> {
    return this.#do(async () => {
      this.share = await answer(api.POST(PATH, { params: this.#params }));
    });
  }

  revoke(): Promise<boolean> {
    return this.#do(async () => {
      await answer(api.DELETE(PATH, { params: this.#params }));
      this.share = null;
    });
  }

  async #do(act: () => Promise<void>): Promise<boolean> {
    if (this.isBusy) return false;
    [this.isBusy, this.refusal] = [true, null];
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
