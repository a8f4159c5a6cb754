import { expect, test } from 'vitest';
import { excerpt, marked } from './matches.ts';

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

test('an excerpt begins shortly before what was found, at a word', () => {
  const near = (text: string, query: string) =>
    excerpt(marked(text, query)).map(({ text: part, isMatch }) => (isMatch ? `[${part}]` : part));
  const text = '…then train | | 7-8 | Bodø | Nordland railway | | 9-10 | Lofoten | by ship';
  expect(near(text, 'lofoten')).toEqual(['…railway | | 9-10 | ', '[Lofoten]', ' | by ship']);
  expect(near('The sea is deep', 'deep')).toEqual(['The sea is ', '[deep]']);
  expect(near('Deep is the sea', 'deep')).toEqual(['[Deep]', ' is the sea']);
  expect(near(`${'x'.repeat(40)}-sea`, 'sea')).toEqual([`…${'x'.repeat(23)}-`, '[sea]']);
  expect(near('A text of more than twenty-four characters', 'none')).toEqual([
    'A text of more than twenty-four characters'
  ]);
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
