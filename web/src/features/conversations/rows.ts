import type { components } from '#api/schema.d.ts';

export type Row = components['schemas']['ConversationRow'];

/** What a list calls a conversation: shown under one heading. */
export type Section = 'pinned' | 'today' | 'yesterday' | 'week' | 'older' | 'found';

export interface Group {
  section: Section;
  rows: Row[];
}

/** Below zero where the first comes before the second in the service's lists. */
function compare(one: Row, other: Row): number {
  if (one.pinned !== other.pinned) return one.pinned ? -1 : 1;
  // Times are written alike, so that their texts are in their order.
  if (one.updated_at !== other.updated_at) return one.updated_at < other.updated_at ? 1 : -1;
  return one.id < other.id ? 1 : -1;
}

/**
 * The rows with this one in its place. Where there are `more` rows to come, one that belongs behind the
 * last is left out: it comes with its page.
 */
export function withRow(rows: readonly Row[], row: Row, more: boolean): Row[] {
  const others = withoutRows(rows, [row.id]);
  const place = others.findIndex((other) => compare(row, other) < 0);
  if (place < 0) return more ? others : [...others, row];
  return others.toSpliced(place, 0, row);
}

/** The rows with those of a further page. Those that have moved up meanwhile are there already. */
export function withPage(rows: readonly Row[], page: readonly Row[]): Row[] {
  const known = new Set(rows.map(({ id }) => id));
  return [...rows, ...page.filter(({ id }) => !known.has(id))];
}

export function withoutRows(rows: readonly Row[], ids: readonly string[]): Row[] {
  const gone = new Set(ids);
  return rows.filter(({ id }) => !gone.has(id));
}

/** The rows in pieces. What of them is not in view is not painted, which is cheaper by pieces than by rows. */
export function pieces(rows: readonly Row[], size = 50): Row[][] {
  const count = Math.ceil(rows.length / size);
  return Array.from({ length: count }, (_, at) => rows.slice(at * size, (at + 1) * size));
}

/** Rows under the headings of their days, in the order in which they are. */
export function grouped(rows: readonly Row[], now: Date): Group[] {
  const groups: Group[] = [];
  const days = [0, 1, 7].map(
    (ago) => new Date(now.getFullYear(), now.getMonth(), now.getDate() - ago)
  );
  for (const row of rows) {
    const section = row.pinned ? 'pinned' : sectionOf(new Date(row.updated_at), days);
    const group = groups.at(-1);
    if (group?.section === section) group.rows.push(row);
    else groups.push({ section, rows: [row] });
  }
  return groups;
}

function sectionOf(time: Date, [today, yesterday, week]: Date[]): Section {
  if (today && time >= today) return 'today';
  if (yesterday && time >= yesterday) return 'yesterday';
  return week && time >= week ? 'week' : 'older';
}
