type Module = typeof import('./blocks.ts');

/** What makes pages of Markdown. It is loaded beside the first conversation. */
class Engine {
  module = $state.raw<Module | null>(null);

  async load(): Promise<void> {
    this.module ??= await import('./blocks.ts');
  }
}

export const engine = new Engine();
