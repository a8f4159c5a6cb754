// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { overwriteGetLocale } from '#runtime';
import { size, usd } from './numbers.ts';

overwriteGetLocale(() => 'en');

test.each([
  [0, '$0.00'],
  [0.000_251_3, '$0.00025'],
  [0.0099, '$0.0099'],
  [0.012_345, '$0.01'],
  [1234.5, '$1,234.50']
])('%f USD are %s', (amount, words) => {
  expect(usd(amount)).toBe(words);
});

test.each([
  [16, '16 bytes'],
  [1500, '1.5 kB'],
  [25_000_000, '25 MB']
])('%i bytes are %s', (bytes, words) => {
  expect(size(bytes)).toBe(words);
});
