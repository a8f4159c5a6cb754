/** A message by its place in a conversation. */
export interface Node {
  readonly id: string;
  readonly parentId: string | null;
}

/**
 * A conversation's messages as a tree: those with the same parent are alternatives to each other. It is
 * made anew where messages come or go.
 */
export class Tree<N extends Node> {
  readonly #byId = new Map<string, N>();
  readonly #byParent = new Map<string | null, N[]>();

  /** Of messages of which the oldest is the first. */
  constructor(messages: readonly N[]) {
    for (const message of messages) {
      this.#byId.set(message.id, message);
      const siblings = this.#byParent.get(message.parentId);
      if (siblings) siblings.push(message);
      else this.#byParent.set(message.parentId, [message]);
    }
  }

  find(id: string | null): N | null {
    return (id !== null && this.#byId.get(id)) || null;
  }

  /** What follows a message directly; null for what begins the conversation. */
  after(id: string | null): readonly N[] {
    return this.#byParent.get(id) ?? [];
  }

  /** The alternatives to a message, with itself. */
  alternatives({ parentId }: Node): readonly N[] {
    return this.after(parentId);
  }

  /** The messages from the first one to this one. */
  branch(leafId: string | null): N[] {
    const branch: N[] = [];
    for (let at = this.find(leafId); at; at = this.find(at.parentId)) branch.push(at);
    return branch.reverse();
  }

  /** The end of the newest branch through a message. */
  newestEnd(message: N): N {
    let end = message;
    for (let next = this.after(end.id).at(-1); next; next = this.after(end.id).at(-1)) end = next;
    return end;
  }

  /** A message with all that follows it on any branch: what goes when it is deleted. */
  below(message: N): Set<N> {
    const found = new Set([message]);
    for (const each of found) for (const next of this.after(each.id)) found.add(next);
    return found;
  }
}
