import type { Component } from 'svelte';

/**
 * A component that the page does not begin with. It is loaded beside what the page begins with, not when it
 * is needed: then the network may be away.
 */
export class Later<Props extends Record<string, unknown>, Exports extends Record<string, unknown>> {
  component = $state.raw<Component<Props, Exports> | null>(null);
  readonly #load: () => Promise<{ default: Component<Props, Exports> }>;

  constructor(load: () => Promise<{ default: Component<Props, Exports> }>) {
    this.#load = load;
  }

  async load(): Promise<void> {
    this.component ??= (await this.#load()).default;
  }
}

export const thread = new Later(() => import('./Thread.svelte'));
export const attachmentList = new Later(() => import('./composer/AttachmentList.svelte'));
export const problemNotice = new Later(() => import('./ProblemNotice.svelte'));

export function loadLater(): void {
  for (const part of [thread, attachmentList, problemNotice]) void part.load();
}
