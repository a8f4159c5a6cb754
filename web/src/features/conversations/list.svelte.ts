import { answer, api } from '#api/client.ts';
import { nextPage, type PageQuery } from '#api/pages.ts';
import { Refusal } from '#api/refusal.ts';
import type { components } from '#api/schema.d.ts';
import type { UserEvent } from '#live/event_types.ts';
import { grouped, withoutRows, withPage, withRow, type Group, type Row } from './rows.ts';

type Changes = components['schemas']['ConversationChanges'];

/** How many conversations one request may delete. */
const DELETED_AT_ONCE = 100;
const TYPING_MS = 200;
/** The rows of a page: they are drawn without a pause that one would notice. */
const PAGE = '50';

/**
 * The conversations of the user, or those of a space, page by page: all of them, or those that were
 * searched for. Events keep it up to date.
 */
export class ConversationList {
  rows = $state.raw<Row[]>([]);
  /** Before anything has come. */
  isLoading = $state(true);
  isLoadingMore = $state(false);
  hasMore = $state(false);
  /** Why the list, or its next page, could not be loaded. */
  refusal = $state.raw<Refusal | null>(null);
  /** What is searched for; empty for nothing. */
  query = $state('');
  spaceId = $state<string | null>(null);
  /** What was deleted from here: whoever did it is told so there. */
  readonly deleted = new Set<string>();
  #now = $state.raw(new Date());
  readonly groups = $derived<Group[]>(
    this.query && this.rows.length
      ? [{ section: 'found', rows: this.rows }]
      : grouped(this.rows, this.#now)
  );
  #next: PageQuery | null = null;
  /** Counts the lists: an answer for a former one is dropped. */
  #listed = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Events that came while a list was being read: it may be from before them. */
  #meanwhile: UserEvent[] | null = null;

  /** Loads the first page. The place in the stream of events from which on this list is to be followed. */
  async load(): Promise<number | null> {
    const listed = this.#begin();
    this.refusal = null;
    try {
      const { page, response } = await this.#page(this.#first());
      if (listed !== this.#listed) return null;
      this.#take(page, response);
      this.#now = new Date();
      this.isLoading = false;
      return Number(response.headers.get('X-Next-Seq'));
    } catch (error) {
      if (listed === this.#listed) this.#fail(error);
      return null;
    } finally {
      if (listed === this.#listed) this.#end();
    }
  }

  /** Loads the next page, if there is one. */
  async more(): Promise<void> {
    if (!this.#next || this.isLoadingMore || this.#meanwhile) return;
    const listed = this.#listed;
    this.isLoadingMore = true;
    this.refusal = null;
    this.#meanwhile = [];
    try {
      const { page, response } = await this.#page(this.#next);
      if (listed === this.#listed) this.#take(withPage(this.rows, page), response);
    } catch (error) {
      if (listed === this.#listed) this.#fail(error);
    } finally {
      if (listed === this.#listed) this.#end();
    }
  }

  /** Searches, once nobody has typed for a moment; an empty query shows all again. */
  search(query: string): void {
    const words = query.trim();
    clearTimeout(this.#timer);
    if (words === this.query) return;
    this.#timer = setTimeout(() => this.#show(words, this.spaceId), words ? TYPING_MS : 0);
  }

  /** Shows the conversations of a space alone, or with null all of the user's. */
  show(spaceId: string | null): void {
    if (spaceId !== this.spaceId) this.#show('', spaceId);
  }

  /** Renames, pins or moves a conversation. Raises a Refusal. */
  async change(id: string, changes: Changes): Promise<void> {
    const { system: _, ...row } = await answer(
      api.PATCH('/api/conversations/{conversation_id}', {
        params: { path: { conversation_id: id } },
        body: changes
      })
    );
    this.#put({ ...row, match: null });
  }

  /** Deletes conversations for good. Raises a Refusal; some may have been deleted before it. */
  async delete(ids: readonly string[]): Promise<void> {
    for (let at = 0; at < ids.length; at += DELETED_AT_ONCE) {
      const some = ids.slice(at, at + DELETED_AT_ONCE);
      some.forEach((id) => this.deleted.add(id));
      await answer(api.POST('/api/conversations/delete', { body: { ids: some } }));
      this.rows = withoutRows(this.rows, some);
    }
  }

  /** Takes in what has happened, in whichever tab or device. */
  apply(event: UserEvent): void {
    this.#meanwhile?.push(event);
    switch (event.type) {
      case 'conversation.created':
      case 'conversation.updated':
        this.#put({ ...event.data.conversation, match: null });
        break;
      case 'conversation.replied':
        this.#replied(event.data, event.created_at);
        break;
      case 'conversation.deleted':
        this.rows = withoutRows(this.rows, [event.data.conversation_id]);
        break;
      case 'space.deleted':
        this.#spaceDeleted(event.data.space_id);
    }
    this.#now = new Date();
  }

  #show(query: string, spaceId: string | null): void {
    if (spaceId !== this.spaceId) {
      this.rows = [];
      this.isLoading = true;
    }
    this.query = query;
    this.spaceId = spaceId;
    void this.load();
  }

  #begin(): number {
    clearTimeout(this.#timer);
    this.#meanwhile = [];
    return ++this.#listed;
  }

  #end(): void {
    const events = this.#meanwhile ?? [];
    this.#meanwhile = null;
    this.isLoadingMore = false;
    for (const event of events) this.apply(event);
  }

  #fail(error: unknown): void {
    if (!(error instanceof Refusal)) throw error;
    this.refusal = error;
    this.isLoading = false;
  }

  #first(): PageQuery {
    const narrowed = {
      ...(this.query && { q: this.query }),
      ...(this.spaceId && { space_id: this.spaceId })
    };
    return { limit: PAGE, ...narrowed };
  }

  async #page(query: PageQuery) {
    const call = api.GET('/api/conversations', { params: { query } });
    return { page: await answer(call), response: (await call).response };
  }

  #take(rows: Row[], response: Response): void {
    this.rows = rows;
    this.#next = nextPage(response);
    this.hasMore = this.#next !== null;
  }

  /** Puts a row, as it is now, into its place; or takes it out, where it belongs to another list. */
  #put(row: Row): void {
    const known = this.rows.find(({ id }) => id === row.id);
    if (!this.#belongs(row)) this.rows = withoutRows(this.rows, [row.id]);
    else if (!this.query) this.rows = withRow(this.rows, row, this.hasMore);
    // Only the service knows what a search would find: the order and the matches stay.
    else if (known) this.#replace({ ...row, match: known.match });
  }

  #belongs({ space_id, access }: Row): boolean {
    return this.spaceId ? space_id === this.spaceId : access === 'owner';
  }

  #replace(row: Row): void {
    this.rows = this.rows.map((other) => (other.id === row.id ? row : other));
  }

  #replied({ conversation_id, title, message_id, status }: Replied, at: string): void {
    const row = this.rows.find(({ id }) => id === conversation_id);
    const running_message_id = status === 'running' ? message_id : null;
    if (row) this.#put({ ...row, title, running_message_id, updated_at: at });
    else if (status === 'running' && !this.query) void this.#fetch(conversation_id);
  }

  /** An old conversation goes on: it moves up from a page that is not loaded. */
  async #fetch(id: string): Promise<void> {
    const listed = this.#listed;
    const params = { path: { conversation_id: id }, query: { messages: 'none' as const } };
    try {
      const {
        system: _,
        messages: __,
        ...row
      } = await answer(api.GET('/api/conversations/{conversation_id}', { params }));
      if (listed === this.#listed) this.#put({ ...row, match: null });
    } catch (error) {
      // It was deleted meanwhile, or its page will bring it.
      if (!(error instanceof Refusal)) throw error;
    }
  }

  #spaceDeleted(spaceId: string): void {
    if (this.spaceId === spaceId) this.show(null);
    this.rows = this.rows.map((row) =>
      row.space_id === spaceId ? { ...row, space_id: null } : row
    );
  }
}

type Replied = Extract<UserEvent, { type: 'conversation.replied' }>['data'];
