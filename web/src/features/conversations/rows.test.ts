import { expect, test } from 'vitest';
import { grouped, withoutRows, withPage, withRow, type Row } from './rows.ts';

const row = (id: string, updated_at: string, changes: Partial<Row> = {}): Row => ({
  id,
  title: id,
  model: null,
  space_id: null,
  active_leaf_id: null,
  running_message_id: null,
  pinned: false,
  access: 'owner',
  created_at: updated_at,
  updated_at,
  match: null,
  ...changes
});
const ids = (rows: Row[]) => rows.map(({ id }) => id).join('');
/** A local time, as the service writes it. */
const local = (...parts: [number, number, number, number?, number?]) => {
  const [year, month, day, hour, minute] = parts;
  return new Date(year, month - 1, day, hour ?? 0, minute ?? 0).toISOString();
};
const [c, b, a] = [
  row('c', '2026-11-03T10:00:00.000000Z'),
  row('b', '2026-11-02T10:00:00.000000Z'),
  row('a', '2026-11-01T10:00:00.000000Z')
];

test('a new row comes where its time puts it', () => {
  expect(ids(withRow([c, a], b, false))).toBe('cba');
  expect(ids(withRow([b, a], c, false))).toBe('cba');
  expect(ids(withRow([c, b], a, false))).toBe('cba');
});

test('a row that is there moves', () => {
  expect(ids(withRow([c, b, a], { ...a, updated_at: '2026-11-04T10:00:00.000000Z' }, false))).toBe(
    'acb'
  );
});

test('pinned rows come first, and others below them', () => {
  const pinned = { ...a, pinned: true };
  expect(ids(withRow([c, b, a], pinned, true))).toBe('acb');
  expect(ids(withRow([pinned, b], c, true))).toBe('acb');
});

test('of rows of one moment the newer id comes first', () => {
  const twin = { ...b, id: 'bb' };
  expect(ids(withRow([c, b, a], twin, false))).toBe('cbbba');
  expect(ids(withRow([c, twin, a], b, false))).toBe('cbbba');
});

test('a row behind the loaded pages waits for its own', () => {
  expect(ids(withRow([c, b], a, true))).toBe('cb');
  expect(ids(withRow([{ ...a, pinned: true }, c, b], a, true))).toBe('cb');
});

test('a page adds what has not moved up meanwhile', () => {
  expect(ids(withPage([c, a], [b, a]))).toBe('cab');
});

test('rows go by their ids', () => {
  expect(ids(withoutRows([c, b, a], ['b', 'unknown']))).toBe('ca');
});

test('rows stand under their days', () => {
  const now = new Date(2026, 10, 15, 9, 30);
  const rows = [
    row('p', local(2026, 1, 1), { pinned: true }),
    row('a', local(2026, 11, 15, 9)),
    row('b', local(2026, 11, 15, 0, 0)),
    row('c', local(2026, 11, 14, 23, 59)),
    row('d', local(2026, 11, 14)),
    row('e', local(2026, 11, 13, 23, 59)),
    row('f', local(2026, 11, 8)),
    row('g', local(2026, 11, 7, 23, 59))
  ];
  const shown = grouped(rows, now).map(({ section, rows: some }) => `${section} ${ids(some)}`);
  expect(shown).toEqual(['pinned p', 'today ab', 'yesterday cd', 'week ef', 'older g']);
});

test('days are those of the calendar, also where one has 23 or 25 hours', () => {
  // The clocks of Berlin go back in the night of October 25.
  const rows = [row('a', local(2026, 10, 25, 0, 10)), row('b', local(2026, 10, 24, 23, 50))];
  const shown = grouped(rows, new Date(2026, 9, 26, 0, 5)).map(({ section }) => section);
  expect(shown).toEqual(['yesterday', 'week']);
});

test('no rows have no headings', () => {
  expect(grouped([], new Date())).toEqual([]);
});
