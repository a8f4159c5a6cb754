// @vitest-environment jsdom
import { render, screen } from '@testing-library/svelte';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { overwriteGetLocale } from '#runtime';
import { Refusal } from '#api/refusal.ts';
import ProblemNotice from './ProblemNotice.svelte';
import type { Conversation, Problem } from './state/conversation.svelte.ts';

overwriteGetLocale(() => 'en');

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function show(refusal: Refusal) {
  const again = vi.fn<NonNullable<Problem['again']>>();
  const problem: Problem = { refusal, model: 'gpt-6-luna', again };
  render(ProblemNotice, { conversation: { problem } as Conversation, problem });
  return again;
}

test('whoever is to wait sees for how long, and goes on after that', async () => {
  const again = show(new Refusal(429, 'rate_limit_exceeded', '', { retryAfter: 3 }));
  const button = screen.getByRole<HTMLButtonElement>('button', { name: 'Try again in 3 s' });
  expect(button.disabled).toBe(true);

  await vi.advanceTimersByTimeAsync(1600);
  expect(button.textContent.trim()).toBe('Try again in 2 s');

  await vi.advanceTimersByTimeAsync(1500);
  expect(button.textContent.trim()).toBe('Try again');
  button.click();
  expect(again).toHaveBeenCalledOnce();
});

test('of a fault of ours the id is there to quote', () => {
  show(new Refusal(503, 'service_unavailable', '', { requestId: 'req_1' }));
  expect(screen.getByText(/req_1/)).toBeTruthy();
});
