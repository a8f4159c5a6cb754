import { ownKey, remember, remembered } from '#features/frame/remembered.ts';
import type { Model } from './models.svelte.ts';
import { cheapestFirst } from './words.ts';

const KEY = 'models-order';

/** In which order models are shown to somebody, on this device. */
class ModelOrder {
  #chosen = $state<boolean | null>(null);

  get isByPrice(): boolean {
    return this.#chosen ?? remembered(ownKey(KEY)) === 'price';
  }

  choose(isByPrice: boolean): void {
    this.#chosen = isByPrice;
    remember(ownKey(KEY), isByPrice ? 'price' : null);
  }

  of(models: readonly Model[]): readonly Model[] {
    return this.isByPrice ? cheapestFirst(models) : models;
  }
}

export const order = new ModelOrder();
