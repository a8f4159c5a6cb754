import type { Entry } from './state/entry.svelte.ts';

const SIZE = 20;

interface Group {
  /** Of all groups of the branch: it keeps its messages while others come before it or after it. */
  number: number;
  entries: Entry[];
}

/** The messages of a branch from one on, in groups. */
export function grouped(branch: readonly Entry[], from: number): Group[] {
  const groups: Group[] = [];
  for (let at = from; at < branch.length;) {
    const number = Math.floor(at / SIZE);
    const end = (number + 1) * SIZE;
    groups.push({ number, entries: branch.slice(at, end) });
    at = end;
  }
  return groups;
}
