import { expect, test } from 'vitest';
import { grouped } from './groups.ts';
import type { Entry } from './state/entry.svelte.ts';

const branch = Array.from({ length: 70 }, (_, at) => ({ id: `${at}` }) as Entry);

const sizes = (from: number, length = 70) =>
  grouped(branch.slice(0, length), from).map(({ number, entries }) => [number, entries.length]);

test('the messages from one on are in groups of twenty', () => {
  expect(sizes(0)).toEqual([
    [0, 20],
    [1, 20],
    [2, 20],
    [3, 10]
  ]);
  expect(sizes(10)).toEqual([
    [0, 10],
    [1, 20],
    [2, 20],
    [3, 10]
  ]);
  expect(
    grouped(branch, 65)
      .flatMap(({ entries }) => entries)
      .map(({ id }) => id)
  ).toEqual(['65', '66', '67', '68', '69']);
});

test('what is there stays in its group when more comes before it or after it', () => {
  expect(sizes(30, 50)).toEqual([
    [1, 10],
    [2, 10]
  ]);
  expect(sizes(10, 51)).toEqual([
    [0, 10],
    [1, 20],
    [2, 11]
  ]);
});

test('of nothing there are no groups', () => {
  expect(grouped([], 0)).toEqual([]);
});
