import { answer, api } from '#api/client.ts';
import { nextPage, type PageQuery } from '#api/pages.ts';
import { Refusal } from '#api/refusal.ts';
import type { components } from '#api/schema.d.ts';
import type { UserEvent } from '#live/event_types.ts';

type Schemas = components['schemas'];
export type Space = Schemas['Space'];

/** The spaces of the user, and those that are shared with them. They are loaded when they are shown. */
export class Spaces {
  all = $state.raw<Space[]>([]);
  isLoaded = $state(false);
  /** Why they could not be loaded. */
  refusal = $state.raw<Refusal | null>(null);
  /** Those into which the user can put conversations. */
  readonly own = $derived(this.all.filter(({ access }) => access === 'owner'));
  #loading: Promise<void> | null = null;

  /** Loads them, unless that has been done or is under way. */
  load(): Promise<void> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  /** Loads them anew, where they are shown: which there are may have changed. */
  reload(): void {
    if (!this.#loading) return;
    this.#loading = this.#load();
  }

  find(id: string | null): Space | null {
    return this.all.find((space) => space.id === id) ?? null;
  }

  /** Raises a Refusal. */
  async create(space: Schemas['SpaceInput']): Promise<Space> {
    const created = await answer(api.POST('/api/spaces', { body: space }));
    this.#put(created);
    return created;
  }

  /** Renames it, or gives it other instructions. Raises a Refusal. */
  async change(id: string, changes: Schemas['SpaceChanges']): Promise<void> {
    const params = { path: { space_id: id } };
    this.#put(await answer(api.PATCH('/api/spaces/{space_id}', { params, body: changes })));
  }

  /** Deletes it; its conversations stay. Raises a Refusal. */
  async delete(id: string): Promise<void> {
    await answer(api.DELETE('/api/spaces/{space_id}', { params: { path: { space_id: id } } }));
    this.#drop((space) => space.id === id);
  }

  /** Takes in what has happened, in whichever tab or device, and whichever of the team did it. */
  apply(event: UserEvent): void {
    if (!this.#loading) return;
    switch (event.type) {
      case 'space.updated':
        // The event brings no instructions.
        void this.#fetch(event.data.space.id);
        break;
      case 'space.deleted':
        this.#drop(({ id }) => id === event.data.space_id);
        break;
      case 'team.joined':
        this.reload();
        break;
      case 'team.left':
      case 'team.deleted':
        this.#drop(({ access }) => access !== 'owner');
        break;
      case 'team.member.left':
        this.#drop(({ owner }) => owner.id === event.data.member_id);
    }
  }

  async #load(): Promise<void> {
    this.refusal = null;
    try {
      this.all = await everySpace();
      this.isLoaded = true;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.refusal = error;
      this.#loading = null;
    }
  }

  async #fetch(id: string): Promise<void> {
    try {
      this.#put(
        await answer(api.GET('/api/spaces/{space_id}', { params: { path: { space_id: id } } }))
      );
    } catch (error) {
      // It is gone again, or the list keeps its former name for a while.
      if (!(error instanceof Refusal)) throw error;
    }
  }

  #put(space: Space): void {
    const isKnown = this.find(space.id) !== null;
    this.all = isKnown
      ? this.all.map((other) => (other.id === space.id ? space : other))
      : [space, ...this.all];
  }

  #drop(isGone: (space: Space) => boolean): void {
    this.all = this.all.filter((space) => !isGone(space));
  }
}

async function everySpace(): Promise<Space[]> {
  const spaces: Space[] = [];
  let query: PageQuery | null = {};
  while (query) {
    const call = api.GET('/api/spaces', { params: { query } });
    spaces.push(...(await answer(call)));
    query = nextPage((await call).response);
  }
  return spaces;
}
