import type { Component } from 'svelte';
import { m } from '#messages';
import { toasts } from './toasts.svelte.ts';

type Loaded<Part> = { default: Part };

/** A component that is loaded when somebody is about to use it. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- whatever its props are
export class Part<Shown extends Component<any, any, any>> {
  /** Undefined until it has been loaded. */
  shown = $state.raw<Shown>();
  readonly #load: () => Promise<Loaded<Shown>>;

  /** `load` imports it: `() => import('./Menu.svelte')`. */
  constructor(load: () => Promise<Loaded<Shown>>) {
    this.#load = load;
  }

  /** Loads it ahead of its use. Where it does not come, its use will tell. */
  async prepare(): Promise<void> {
    await this.#loaded().catch(() => {});
  }

  /** Loads it for its use. Has it come? If not, a note says so. */
  async need(): Promise<boolean> {
    try {
      await this.#loaded();
      return true;
    } catch {
      toasts.say(m.part_not_loaded());
      return false;
    }
  }

  async #loaded(): Promise<void> {
    this.shown ??= (await this.#load()).default;
  }
}
