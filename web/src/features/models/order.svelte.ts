import { remember, remembered } from '#features/frame/remembered.ts';
import type { Model } from './models.svelte.ts';
import { cheapestFirst } from './words.ts';

const KEY = 'models-order';

/** In which order models are shown, on this device. */
class ModelOrder {
  isByPrice = $state(remembered(KEY) === 'price');

  choose(isByPrice: boolean): void {
    this.isByPrice = isByPrice;
    remember(KEY, isByPrice ? 'price' : null);
  }

  of(models: readonly Model[]): readonly Model[] {
    return this.isByPrice ? cheapestFirst(models) : models;
  }
}

export const order = new ModelOrder();
