import { m } from '#messages';
import { usd } from '#ui/numbers.ts';
import type { Message } from './state/entry.svelte.ts';

type Usage = NonNullable<Message['usage']>;

/** What a reply has cost, and who has paid it; empty while that is not known. */
export function paidWords({ paid_by_plan_usd: plan, paid_by_balance_usd: balance }: Usage): string {
  if (plan === null || balance === null) return '';
  if (plan && balance) return m.chat_paid_by_both({ plan: usd(plan), balance: usd(balance) });
  if (plan) return m.chat_paid_by_plan({ amount: usd(plan) });
  return balance ? m.chat_paid_by_balance({ amount: usd(balance) }) : m.chat_paid_free();
}
