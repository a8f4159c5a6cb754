// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { overwriteGetLocale } from '#runtime';
import { paidWords } from './money.ts';

overwriteGetLocale(() => 'en');

const usage = (plan: number | null, balance: number | null) => ({
  input_tokens: 1,
  output_tokens: 1,
  reasoning_tokens: 0,
  cached_tokens: 0,
  total_tokens: 2,
  listed_usd: 0.01,
  paid_by_plan_usd: plan,
  paid_by_balance_usd: balance
});

test.each([
  [0.02, 0, '$0.02 from your plan'],
  [0, 0.04, '$0.04 from your balance'],
  [0.02, 0.04, '$0.02 from your plan, $0.04 from your balance'],
  [0, 0, 'Free'],
  [null, null, '']
])('of a plan %s and a balance %s: %s', (plan, balance, words) => {
  expect(paidWords(usage(plan, balance))).toBe(words);
});
