// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { nextPath, signInPath, withNext } from './next.ts';

const asked = (next: string) => new URLSearchParams({ next });

test('somebody goes back to the page where they were', () => {
  expect(nextPath(asked('/chat/1?q=a#end'))).toBe('/chat/1?q=a#end');
});

test('without a page to go to it is the start', () => {
  expect(nextPath(new URLSearchParams())).toBe('/');
});

test.each([
  'https://evil.example/',
  '//evil.example/',
  '/\\evil.example/',
  '/\t/evil.example/',
  'javascript:alert(1)',
  '//',
  'chat/1',
  ''
])('%j is no page of the app', (next) => {
  expect(nextPath(asked(next))).toBe('/');
});

test('the page for signing in knows where to go back to', () => {
  const path = signInPath(new URL('http://here/chat/1?q=a&b=c'));
  expect(nextPath(new URL(path, 'http://here').searchParams)).toBe('/chat/1?q=a&b=c');
  expect(signInPath(new URL('http://here/'))).toBe('/sign-in');
});

test('other pages on the way pass it on', () => {
  expect(withNext('/sign-up', asked('/models'))).toBe('/sign-up?next=%2Fmodels');
  expect(withNext('/sign-up', asked('https://evil.example/'))).toBe('/sign-up');
});
