import { expect, test } from 'vitest';
import { loads } from './budgets.ts';

const pages = {
  '/': new Set(['start', 'frame', 'home']),
  '/sign-in': new Set(['start', 'form']),
  '/docs': new Set(['start', 'frame', 'text', 'form'])
};
const size = new Map([
  ['start', 40_000],
  ['frame', 10_000],
  ['home', 5_500],
  ['form', 2_000],
  ['text', 61_000]
]);
const budgets = { first_load: { routes: ['/', '/sign-in'], kb: 90 }, any_other_route: { kb: 60 } };

test('first pages are measured whole, and others by what they add to the first one', () => {
  expect(loads(pages, budgets, size)).toEqual([
    { route: '/', kb: 55.5, most: 90 },
    { route: '/sign-in', kb: 42, most: 90 },
    { route: '/docs', kb: 63, most: 60 }
  ]);
});

test('a first page that is no route is an error', () => {
  const wrong = { ...budgets, first_load: { routes: ['/home'], kb: 90 } };
  expect(() => loads(pages, wrong, size)).toThrow('/home');
});
