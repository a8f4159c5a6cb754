import { expect, test } from 'vitest';
import { Selection } from './selection.svelte.ts';

const ORDER = ['a', 'b', 'c', 'd', 'e'];
const chosen = (selection: Selection) => [...selection.ids].sort().join('');

test('one begins with the conversation from whose menu it was begun', () => {
  const selection = new Selection();
  selection.begin('b');
  expect([selection.isOn, chosen(selection)]).toEqual([true, 'b']);
});

test('a row is chosen and let go', () => {
  const selection = new Selection();
  selection.toggle('a');
  selection.toggle('b');
  selection.toggle('a');
  expect(chosen(selection)).toBe('b');
});

test('a range goes from the last one, in either direction', () => {
  const selection = new Selection();
  selection.toggle('b');
  selection.extend('d', ORDER);
  expect(chosen(selection)).toBe('bcd');
  selection.extend('a', ORDER);
  expect(chosen(selection)).toBe('abcd');
});

test('a range from a row that is gone is that row alone', () => {
  const selection = new Selection();
  selection.toggle('gone');
  selection.ids.delete('gone');
  selection.extend('c', ORDER);
  expect(chosen(selection)).toBe('c');
});

test('nothing stays chosen when it ends', () => {
  const selection = new Selection();
  selection.begin('a');
  selection.end();
  expect([selection.isOn, selection.ids.size]).toEqual([false, 0]);
});
