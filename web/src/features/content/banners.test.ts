// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Banners, type Entry } from './banners.svelte.ts';

const HOUR = 3_600_000;
const banner = (id: string, changes: Partial<Entry> = {}): Entry => ({
  id,
  kind: 'banner',
  slug: id,
  locale: 'en',
  title: id,
  html: '',
  severity: 'info',
  link: null,
  published_at: '2026-11-28T08:00:00Z',
  ends_at: null,
  updated_at: '2026-11-28T08:00:00Z',
  ...changes
});
const inHours = (hours: number) => new Date(Date.now() + hours * HOUR).toISOString();
const shown = (banners: Banners) => banners.shown.map(({ id }) => id);

beforeEach(() => {
  vi.useFakeTimers();
  localStorage.clear();
});

afterEach(() => {
  vi.useRealTimers();
});

test('banners are shown in the order of the service', () => {
  const banners = new Banners();
  banners.take([banner('sale'), banner('hello')]);
  expect(shown(banners)).toEqual(['sale', 'hello']);
});

test('each is hidden when it ends, without asking again', () => {
  const banners = new Banners();
  banners.take([banner('soon', { ends_at: inHours(1) }), banner('later', { ends_at: inHours(2) })]);
  expect(shown(banners)).toEqual(['soon', 'later']);
  vi.advanceTimersByTime(HOUR);
  expect(shown(banners)).toEqual(['later']);
  vi.advanceTimersByTime(HOUR);
  expect(shown(banners)).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});

test('what has ended already does not appear', () => {
  const banners = new Banners();
  banners.take([banner('over', { ends_at: inHours(-1) })]);
  expect(shown(banners)).toEqual([]);
});

test('one that ends in half a year stays until then', () => {
  const banners = new Banners();
  banners.take([banner('far', { ends_at: inHours(24 * 180) })]);
  vi.advanceTimersByTime(24 * 179 * HOUR);
  expect(shown(banners)).toEqual(['far']);
  vi.advanceTimersByTime(24 * HOUR);
  expect(shown(banners)).toEqual([]);
});

test('what somebody has hidden stays hidden on the next visit, until it is changed', () => {
  const sale = banner('sale');
  const first = new Banners();
  first.take([sale, banner('hello')]);
  first.dismiss(sale);
  expect(shown(first)).toEqual(['hello']);

  const next = new Banners();
  next.take([sale, banner('hello')]);
  expect(shown(next)).toEqual(['hello']);

  const changed = new Banners();
  changed.take([banner('sale', { updated_at: '2026-11-29T08:00:00Z' })]);
  expect(shown(changed)).toEqual(['sale']);
});

test('what is gone is not remembered for ever', () => {
  const banners = new Banners();
  banners.take([banner('old')]);
  banners.dismiss(banner('old'));
  banners.take([banner('new')]);
  banners.dismiss(banner('new'));
  expect(Object.keys(JSON.parse(localStorage.getItem('banners_dismissed') ?? ''))).toEqual(['new']);
});
