// @vitest-environment jsdom
import { render, screen } from '@testing-library/svelte';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { overwriteGetLocale } from '#runtime';
import { Refusal } from '#api/refusal.ts';
import { models, type Model } from '#features/models/models.svelte.ts';
import ProblemNotice from './ProblemNotice.svelte';
import type { Conversation, Problem } from './state/conversation.svelte.ts';

overwriteGetLocale(() => 'en');

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function show(refusal: Refusal, answered: string | null = null) {
  const again = vi.fn<NonNullable<Problem['again']>>();
  const problem: Problem = { refusal, model: 'gpt-6-luna', again, answered };
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

test('a message that was to be answered again is named, and is what the button sends', () => {
  models.all = [
    {
      id: 'claude',
      display_name: 'Claude',
      modality: 'chat',
      aliases: [],
      preferences: { enabled: true },
      callable: true
    } as unknown as Model
  ];
  const again = show(new Refusal(402, 'free_limit', ''), 'Count 10');
  expect(screen.getByText('Answering “Count 10” again:')).toBeTruthy();
  screen.getByRole('button', { name: 'Again with Claude' }).click();
  expect(again).toHaveBeenCalledExactlyOnceWith('claude');
});
