import { m } from '#messages';
import { getLocale } from '#runtime';
import type { Model } from '#features/models/models.svelte.ts';
import type { Message } from './state/entry.svelte.ts';

type Usage = NonNullable<Message['usage']>;

/** US dollars. Of amounts below a cent two digits are shown, since a reply may cost less than that. */
export function usd(amount: number): string {
  const isSmall = amount !== 0 && Math.abs(amount) < 0.01;
  const digits = isSmall ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: 2 };
  const options = { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' } as const;
  return new Intl.NumberFormat(getLocale(), { ...options, ...digits }).format(amount);
}

export const count = (number: number) => new Intl.NumberFormat(getLocale()).format(number);

/** What a reply has cost, and who has paid it; empty while that is not known. */
export function paidWords({ paid_by_plan_usd: plan, paid_by_balance_usd: balance }: Usage): string {
  if (plan === null || balance === null) return '';
  if (plan && balance) return m.chat_paid_by_both({ plan: usd(plan), balance: usd(balance) });
  if (plan) return m.chat_paid_by_plan({ amount: usd(plan) });
  return balance ? m.chat_paid_by_balance({ amount: usd(balance) }) : m.chat_paid_free();
}

/** What is left of a model, as its user pays for it. */
export function leftWords({ free, included_in_plan, remaining_usd, callable }: Model): string {
  if (free) {
    const left = Math.max(0, free.limit - free.used);
    if (left > 0) return m.chat_left_free({ left, limit: free.limit });
    return free.reset_at ? m.chat_left_no_free({ time: timeOf(free.reset_at) }) : '';
  }
  if (included_in_plan && remaining_usd > 0) return m.chat_left_of_plan({ amount: usd(remaining_usd) });
  if (!callable) return '';
  return included_in_plan ? m.chat_left_nothing() : m.chat_left_not_included();
}

/** A moment of today, or another day with its date. */
export function timeOf(moment: string): string {
  const date = new Date(moment);
  const isToday = date.toDateString() === new Date().toDateString();
  const day = isToday ? {} : ({ day: 'numeric', month: 'short' } as const);
  return date.toLocaleString(getLocale(), { ...day, hour: 'numeric', minute: '2-digit' });
}

/** A number of bytes, as people read it. */
export function size(bytes: number): string {
  const [unit, amount] =
    bytes < 1000 ? ['byte', bytes] : bytes < 1e6 ? ['kilobyte', bytes / 1e3] : ['megabyte', bytes / 1e6];
  const style = { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: amount < 10 ? 1 : 0 } as const;
  return new Intl.NumberFormat(getLocale(), style).format(amount);
}
