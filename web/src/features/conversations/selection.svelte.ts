import { SvelteSet } from 'svelte/reactivity';

/** Conversations that are chosen to be deleted together. */
export class Selection {
  isOn = $state(false);
  readonly ids = new SvelteSet<string>();
  #last: string | null = null;

  begin(id?: string): void {
    this.isOn = true;
    if (id) this.toggle(id);
  }

  end(): void {
    this.isOn = false;
    this.ids.clear();
    this.#last = null;
  }

  toggle(id: string): void {
    if (!this.ids.delete(id)) this.ids.add(id);
    this.#last = id;
  }

  /** Chooses all from the last one to this one, in the order of the list. */
  extend(id: string, order: readonly string[]): void {
    const [from, to] = [order.indexOf(this.#last ?? id), order.indexOf(id)];
    if (from < 0) return this.toggle(id);
    for (const each of order.slice(Math.min(from, to), Math.max(from, to) + 1)) this.ids.add(each);
    this.#last = id;
  }

  chooseAll(ids: readonly string[]): void {
    for (const id of ids) this.ids.add(id);
  }
}
