// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { overwriteGetLocale } from '#runtime';
import { Refusal } from '#api/refusal.ts';
import { beginningOf, isFinal } from './problem.ts';

overwriteGetLocale(() => 'en');

test.each([
  [402, true],
  [422, true],
  [429, true],
  // It may have arrived, or be answered later.
  [0, false],
  [409, false],
  [502, false],
  // Nothing can be taken back without a session.
  [401, false],
  [403, false]
])(
  'of a message that was refused with %i it is known whether anything comes of it',
  (status, is) => {
    const refusal = new Refusal(status, '', '');
    expect(isFinal({ refusal, model: null, again: null, answered: null })).toBe(is);
  }
);

test('nothing comes of nothing', () => {
  expect(isFinal(null)).toBe(false);
});

test('a message is named by its first line, or by what it is made of', () => {
  expect(beginningOf(' Count 10\nand more')).toBe('Count 10');
  expect(beginningOf('x'.repeat(200))).toHaveLength(80);
  expect(beginningOf('')).toBe('Files');
});
