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

  load(entries: readonly Entry[], leafId: string | null): void {
    [this.all, this.leafId] = [entries, leafId];
  }

  /** Adds messages, of which the last one is shown. */
  add(entries: readonly Entry[]): void {
    this.load([...this.all, ...entries], entries.at(-1)!.id);
  }

  /** Adds what was said elsewhere. Whoever reads another branch than that goes on with theirs. */
  addFromElsewhere(entries: readonly Entry[]): void {
    const parent = entries[0]?.parentId ?? null;
    const isShown = parent === this.leafId || this.branch.some(({ id }) => id === parent);
    this.load([...this.all, ...entries], isShown ? entries.at(-1)!.id : this.leafId);
  }

  /** Takes messages away that have not been said, and shows the branch of before. */
  takeBack(entries: readonly Entry[], leafId: string | null): void {
    this.load(
      this.all.filter((entry) => !entries.includes(entry)),
      leafId
    );
  }

  /** Takes a message away, with all that follows it. Those that are gone. */
  remove(entry: Entry): Set<Entry> {
    const gone = this.tree.below(entry);
    const leafId = this.branch.includes(entry) ? entry.parentId : this.leafId;
    this.load(
      this.all.filter((other) => !gone.has(other)),
      leafId
    );
    return gone;
  }

  /** The service has given a message its id. */
  place(entry: Entry, id: string, parentId = entry.parentId): void {
    if (entry.id === id) return;
    const leafId = this.leafId === entry.id ? id : this.leafId;
    [entry.id, entry.parentId] = [id, parentId];
    entry.change({ id, parent_id: parentId });
    // It may have been loaded meanwhile.
    this.load(
      this.all.filter((other) => other === entry || other.id !== id),
      leafId
    );
  }

  /** Shows the newest branch through a message. Its end. */
  show(entry: Entry): Entry {
    const end = this.tree.newestEnd(entry);
    this.leafId = end.id;
    return end;
  }
}
