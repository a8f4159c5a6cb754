import type { Upload } from './draft.svelte.ts';
import type { Entry, Message } from './entry.svelte.ts';
import type { Tree } from './tree.ts';

/** The files of a message, to be sent with another one. */
export function uploadsOf({ attachments, created_at }: Message): Upload[] {
  return attachments.map(({ id, name, mime, size }) => ({
    id,
    name,
    mime,
    size,
    created_at,
    readable: true
  }));
}

/**
 * Which files of a message the model has read, by their ids: `false` for those of which it knows no more
 * than the name. Those that no reply tells of are missing.
 */
export function readFiles(tree: Tree<Entry>, asked: Entry): Map<string, boolean> {
  const replies = tree.after(asked.id);
  const given = replies.flatMap(({ message }) => message.context?.attachments ?? []);
  return new Map(given.map(({ id, characters }) => [id, characters !== null]));
}
