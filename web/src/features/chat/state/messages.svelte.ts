import type { Entry } from './entry.svelte.ts';
import { Tree } from './tree.ts';

/** The messages of a conversation on all branches, and the branch that is shown. */
export class Messages {
  /** The oldest is the first. */
  all = $state.raw<readonly Entry[]>([]);
  /** The end of the branch that is shown. */
  leafId = $state<string | null>(null);
  readonly tree = $derived(new Tree(this.all));
  readonly branch = $derived(this.tree.branch(this.leafId));

  get newestId(): string | null {
    return this.all.at(-1)?.id ?? null;
  }

  /** The ids under which messages were sent. */
  get clientIds(): Set<string | null> {
    return new Set(this.all.map(({ message }) => message.client_id));
  }

  /** Takes the messages of a conversation, and shows the branch through one of them to its end. */
  open(entries: readonly Entry[], throughId: string | null): void {
    this.#set(entries, null);
    this.leafId = this.#endThrough(throughId);
  }

  /** Adds messages, of which the last one is shown. */
  add(entries: readonly Entry[]): void {
    this.#set([...this.all, ...entries], entries.at(-1)!.id);
  }

  /** Adds what was said elsewhere. Whoever reads another branch than that goes on with theirs. */
  addFromElsewhere(entries: readonly Entry[]): void {
    const parent = entries[0]?.parentId ?? null;
    const isShown = parent === this.leafId || this.branch.some(({ id }) => id === parent);
    this.#set([...this.all, ...entries], isShown ? entries.at(-1)!.id : this.leafId);
  }

  /** Takes messages away that have not been said, and shows the branch of before. */
  takeBack(entries: readonly Entry[], leafId: string | null): void {
    this.#set(
      this.all.filter((entry) => !entries.includes(entry)),
      leafId
    );
  }

  /** Takes a message away, with all that follows it, and shows what is left in its place. Those that are gone. */
  remove(entry: Entry): Set<Entry> {
    const gone = this.tree.below(entry);
    const wasShown = this.branch.includes(entry);
    this.#set(
      this.all.filter((other) => !gone.has(other)),
      this.leafId
    );
    if (wasShown) this.leafId = this.#endThrough(entry.parentId);
    return gone;
  }

  /** The service has given a message its id. */
  place(entry: Entry, id: string, parentId = entry.parentId): void {
    if (entry.id === id) return;
    const leafId = this.leafId === entry.id ? id : this.leafId;
    [entry.id, entry.parentId] = [id, parentId];
    entry.change({ id, parent_id: parentId });
    // It may have been loaded meanwhile.
    this.#set(
      this.all.filter((other) => other === entry || other.id !== id),
      leafId
    );
  }

  #set(entries: readonly Entry[], leafId: string | null): void {
    [this.all, this.leafId] = [entries, leafId];
  }

  /** The end of the newest branch through a message, or from the beginning: no branch is out of reach. */
  #endThrough(id: string | null): string | null {
    const through = this.tree.find(id) ?? this.tree.after(null).at(-1);
    return through ? this.tree.newestEnd(through).id : null;
  }

  /** Shows the newest branch through a message. Its end. */
  show(entry: Entry): Entry {
    const end = this.tree.newestEnd(entry);
    this.leafId = end.id;
    return end;
  }
}
