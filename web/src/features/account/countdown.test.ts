import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Countdown, minutesAndSeconds } from './countdown.svelte.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

test('it counts the seconds down to nothing', () => {
  const countdown = new Countdown();
  countdown.start(2);
  expect(countdown.seconds).toBe(2);
  vi.advanceTimersByTime(1000);
  expect(countdown.seconds).toBe(1);
  vi.advanceTimersByTime(1000);
  expect(countdown.seconds).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});

test('a page that slept is not behind', () => {
  const countdown = new Countdown();
  countdown.start(600);
  vi.setSystemTime(Date.now() + 599_500);
  vi.advanceTimersByTime(1000);
  expect(countdown.seconds).toBe(0);
});

test('another start replaces the first', () => {
  const countdown = new Countdown();
  countdown.start(600);
  countdown.start(3);
  expect([countdown.seconds, vi.getTimerCount()]).toEqual([3, 1]);
});

test.each([
  [5, '0:05'],
  [60, '1:00'],
  [3599, '59:59'],
  [3600, '60:00']
])('%i seconds are %s', (seconds, text) => {
  expect(minutesAndSeconds(seconds)).toBe(text);
});
