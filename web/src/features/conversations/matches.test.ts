import { expect, test } from 'vitest';
import { marked } from './matches.ts';

const shown = (text: string, query: string) =>
  marked(text, query)
    .map(({ text: part, isMatch }) => (isMatch ? `[${part}]` : part))
    .join('');

test('beginnings of words are marked, whatever their case', () => {
  expect(shown('The tide, and low Tides; stride', 'tide')).toBe(
    'The [tide], and low [Tide]s; stride'
  );
});

test('accents do not count, and stay', () => {
  expect(shown('Café, cafe\u0301s, CAFE', 'cafe')).toBe('[Café], [cafe\u0301]s, [CAFE]');
  expect(shown('cafe', 'café')).toBe('[cafe]');
});

test('of several words each is marked', () => {
  expect(shown('low water at the low light', '  light  low')).toBe(
    '[low] water at the [low] [light]'
  );
});

test('marks are no patterns', () => {
  expect(shown('a.b (c)', '.* (c)')).toBe('a.b (c)');
});

test('the text is the same, however it is marked', () => {
  const text = '  “Straße” – 北海の潮 👩‍👩‍👧 x_y ';
  for (const query of ['', 'str', '北', 'x', '👩']) {
    expect(
      marked(text, query)
        .map((part) => part.text)
        .join('')
    ).toBe(text);
  }
});
