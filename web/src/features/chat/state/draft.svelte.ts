import type { components } from '#api/schema.d.ts';
import { isClosed, tabId } from './tab.ts';

/** The most characters of a message. */
export const MOST_CHARACTERS = 100_000;

export type Upload = components['schemas']['Upload'];

/** A message that has not arrived for certain, under the id with which it can be sent again. */
export interface Sending {
  id: string;
  content: string;
  uploads: Upload[];
  parentId: string | null;
  /** The message in whose place it is said. */
  edits: string | null;
}

interface Stored {
  text: string;
  uploads: Upload[];
  editing: { id: string; text: string } | null;
  sending: Sending | null;
}

const EMPTY: Stored = { text: '', uploads: [], editing: null, sending: null };
// Files that go with no message are deleted after a day.
const UPLOAD_LIVES_MS = 23 * 3600 * 1000;

/**
 * What was typed in a conversation and has not arrived. It is kept on this computer until it has, whatever
 * happens to the page, the network or the session.
 */
export class Draft {
  text = $state('');
  /** Files that are to go with it. */
  uploads = $state.raw<Upload[]>([]);
  /** The message that is edited, and its new text. */
  editing = $state.raw<Stored['editing']>(null);
  sending = $state.raw<Sending | null>(null);
  readonly #userId: string;
  #key: string;
  /** What came back last: the same message again is sent under the same id. */
  #returned: Sending | null = null;

  /** A user's, in a conversation or in the one that is not begun yet. */
  constructor(userId: string, conversationId: string | null) {
    this.#userId = userId;
    this.#key = keyOf(userId, conversationId);
    this.#take();
  }

  #take(): void {
    const { text, uploads, editing, sending } = read(this.#key);
    Object.assign(this, { text, editing, sending, uploads: uploads.filter(isAlive) });
  }

  /** Puts down what is there now. To be called whenever it has changed. */
  keep(): void {
    const { text, uploads, editing, sending } = this;
    if (text || uploads.length || editing || sending) {
      write(this.#key, { text, uploads, editing, sending });
    } else localStorage.removeItem(this.#key);
  }

  /** Takes down what is sent now. */
  send(said: Omit<Sending, 'id'>): Sending {
    this.sending = { ...said, id: this.#idFor(said) };
    this.keep();
    return this.sending;
  }

  /** It has arrived. */
  sent(): void {
    this.sending = this.#returned = null;
    this.keep();
  }

  /** It has not been taken: what it said can be changed, or sent again. */
  giveBack(): void {
    const { sending } = this;
    if (!sending) return;
    this.sending = null;
    this.#returned = sending;
    if (sending.edits) this.editing = { id: sending.edits, text: sending.content };
    else {
      this.text = [sending.content, this.text].filter(Boolean).join('\n\n');
      this.uploads = [...sending.uploads, ...this.uploads];
    }
    this.keep();
  }

  /** What was on its way when the page was closed, or has come back, may be among what has arrived. */
  settle(arrived: ReadonlySet<string | null>): void {
    if (this.sending) {
      if (arrived.has(this.sending.id)) this.sent();
      else this.giveBack();
    } else if (this.#returned && arrived.has(this.#returned.id) && this.#isUnchanged()) {
      [this.text, this.uploads] = ['', []];
      this.sent();
    }
  }

  /** The conversation has been begun, under this id; null: it has not, after all. */
  moveTo(conversationId: string | null): void {
    localStorage.removeItem(this.#key);
    this.#key = keyOf(this.#userId, conversationId);
    this.keep();
  }

  /**
   * Takes over what was typed for a new conversation in a tab that is closed by now, or in a conversation
   * that is gone, if nothing is typed here.
   */
  async adopt(): Promise<void> {
    const key = this.#key;
    const prefix = newKeyOf(this.#userId, '');
    for (const other of keysWith(prefix)) {
      if (!(await isClosed(other.slice(prefix.length)))) continue;
      const left = localStorage.getItem(other);
      if (left === null) continue;
      if (key !== this.#key || localStorage.getItem(key) !== null) return;
      localStorage.setItem(key, left);
      localStorage.removeItem(other);
      this.#take();
      return this.settle(new Set());
    }
  }

  /** The conversation is gone: what was typed in it is left to a new one. Was there anything? */
  leave(): boolean {
    // Another tab that shows it may have done so.
    if (localStorage.getItem(this.#key) === null) return false;
    this.giveBack();
    const { uploads } = this;
    const text = [this.editing?.text, this.text].filter(Boolean).join('\n\n');
    localStorage.removeItem(this.#key);
    write(newKeyOf(this.#userId, crypto.randomUUID()), { ...EMPTY, text, uploads });
    return true;
  }

  #isUnchanged(): boolean {
    const before = this.#returned;
    return (
      before?.edits === null && before.content === this.text && same(before.uploads, this.uploads)
    );
  }

  #idFor({ content, parentId, uploads }: Omit<Sending, 'id'>): string {
    const before = this.#returned;
    const isSame =
      before?.content === content && before.parentId === parentId && same(before.uploads, uploads);
    return isSame ? before.id : crypto.randomUUID();
  }
}

/** Is something there that a user has typed and not sent? It stays on this computer, for them alone. */
export function hasDrafts(userId: string): boolean {
  return keysWith(`draft:${userId}:`).length > 0;
}

// Each tab has a new conversation of its own.
const newKeyOf = (userId: string, tab: string) => `draft:${userId}:new:${tab}`;

const keyOf = (userId: string, conversationId: string | null) =>
  conversationId ? `draft:${userId}:${conversationId}` : newKeyOf(userId, tabId());

const keysWith = (prefix: string) =>
  Object.keys(localStorage).filter((key) => key.startsWith(prefix));

const same = (some: readonly Upload[], others: readonly Upload[]) =>
  some.map(({ id }) => id).join() === others.map(({ id }) => id).join();

const isAlive = ({ created_at }: Upload) => Date.parse(created_at) > Date.now() - UPLOAD_LIVES_MS;

function read(key: string): Stored {
  try {
    return { ...EMPTY, ...(JSON.parse(localStorage.getItem(key) ?? '{}') as Partial<Stored>) };
  } catch {
    return EMPTY; // written by something else
  }
}

function write(key: string, stored: Stored): void {
  try {
    localStorage.setItem(key, JSON.stringify(stored));
  } catch {
    // The browser keeps nothing, or its store is full: the page itself still has it.
  }
}
