import type { Component } from 'svelte';

/**
 * A component that is rarely needed. It is loaded when the page is there, not when it is needed: then the
 * network may be away.
 */
export class Later<Props extends Record<string, unknown>> {
  component = $state.raw<Component<Props> | null>(null);
  readonly #load: () => Promise<{ default: Component<Props> }>;

  constructor(load: () => Promise<{ default: Component<Props> }>) {
    this.#load = load;
  }

  async load(): Promise<void> {
    this.component ??= (await this.#load()).default;
  }
}

export const problemNotice = new Later(() => import('./ProblemNotice.svelte'));
export const ending = new Later(() => import('./message/Ending.svelte'));
export const attachmentList = new Later(() => import('./composer/AttachmentList.svelte'));
export const editor = new Later(() => import('./message/Editor.svelte'));

export function loadLater(): void {
  for (const rare of [problemNotice, ending, attachmentList, editor]) void rare.load();
}
