import { answer, api } from '#api/client.ts';
import { Refusal } from '#api/refusal.ts';
import type { components } from '#api/schema.d.ts';
import { models } from './models.svelte.ts';

export type Agent = components['schemas']['Agent'];
type Changes = components['schemas']['AgentChanges'];

/** How far the last change has come. */
export type Saving = 'idle' | 'saving' | 'saved' | 'failed';

/** What a user wants of one model. Changes are saved as they are made; those that fail are kept. */
export class Preferences {
  wanted: Agent;
  saving = $state<Saving>('idle');
  /** Why the last change was not saved. */
  refusal = $state.raw<Refusal | null>(null);
  #unsaved: Changes = {};
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(agent: Agent) {
    this.wanted = $state(agent);
  }

  /** Changes something, and saves it after a moment without further changes. */
  change(changes: Changes, afterMs = 0): void {
    Object.assign(this.wanted, changes);
    Object.assign(this.#unsaved, changes);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.save(), afterMs);
  }

  /** Saves what has not been saved yet. */
  async save(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.saving === 'saving') return;
    while (Object.keys(this.#unsaved).length) {
      const changes = this.#unsaved;
      this.#unsaved = {};
      if (!(await this.#save(changes))) {
        // What was changed meanwhile is newer.
        this.#unsaved = { ...changes, ...this.#unsaved };
        return;
      }
    }
  }

  async #save(changes: Changes): Promise<boolean> {
    this.saving = 'saving';
    this.refusal = null;
    try {
      const params = { path: { model: this.wanted.model } };
      await answer(api.PATCH('/api/agents/{model}', { params, body: changes, keepalive: true }));
      this.saving = 'saved';
      void models.reload();
      return true;
    } catch (error) {
      this.saving = 'failed';
      if (!(error instanceof Refusal)) throw error;
      this.refusal = error;
      return false;
    }
  }
}

/** The preferences for all chat models, favourites first. Raises a Refusal. */
export async function loadPreferences(): Promise<Preferences[]> {
  const agents = await answer(api.GET('/api/agents'));
  return agents.map((agent) => new Preferences(agent));
}
