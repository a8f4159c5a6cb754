import { createContext } from 'svelte';
import { userEvents, type UserEvent } from '#live/user_events.ts';
import { ConversationList } from './list.svelte.ts';
import type { Row } from './rows.ts';
import { Selection } from './selection.svelte.ts';
import { Spaces, type Space } from './spaces.svelte.ts';

/** What has to be asked before it is done. */
export type Question =
  | { kind: 'delete'; rows: Pick<Row, 'id' | 'title'>[] }
  | { kind: 'move'; row: Row }
  | { kind: 'space'; space: Space | null }
  | { kind: 'delete-space'; space: Space };

/** The conversations and spaces of whoever is signed in, as the sidebar and the palette show them. */
export class Conversations {
  readonly list = new ConversationList();
  readonly spaces = new Spaces();
  readonly selection = new Selection();
  question = $state.raw<Question | null>(null);

  /** The space that a new conversation begins in: the one that is shown, if it is the user's own. */
  get newSpaceId(): string | null {
    const { spaceId } = this.list;
    // Where that is not known yet, the service says so.
    const access = this.spaces.find(spaceId)?.access ?? 'owner';
    return access === 'owner' ? spaceId : null;
  }

  /** Shows a space that an address names, if there is one. */
  async open(spaceId: string): Promise<void> {
    this.list.show(spaceId);
    await this.spaces.load();
    const isMissing = this.spaces.isLoaded && !this.spaces.find(spaceId);
    if (isMissing && this.list.spaceId === spaceId) this.list.show(null);
  }

  /** Loads the list, and keeps it up to date until the returned function is called. */
  follow(): () => void {
    const unsubscribe = userEvents.subscribe(
      (event) => this.#apply(event),
      () => void this.reload()
    );
    void this.reload();
    return () => {
      unsubscribe();
      userEvents.stop();
    };
  }

  /** Loads what is shown anew. */
  async reload(): Promise<void> {
    this.spaces.reload();
    const seq = await this.list.load();
    if (seq !== null) userEvents.follow(seq);
  }

  #apply(event: UserEvent): void {
    this.list.apply(event);
    this.spaces.apply(event);
  }
}

export const [conversationsOf, provideConversations] = createContext<Conversations>();
