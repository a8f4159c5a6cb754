import { m } from '#messages';

/** What a plan is called. The free one has a name in each language, others are called as they are sold. */
export function planName(plan: string): string {
  return plan === 'free' ? m.account_plan_free() : plan.charAt(0).toUpperCase() + plan.slice(1);
}
