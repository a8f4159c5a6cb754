import { m } from '#messages';
import { compact, dayOf, timeOf, usd } from '#ui/numbers.ts';
import { hasWords, wordsOf } from '#ui/words.ts';
import type { Model } from './models.svelte.ts';
import { vendorName } from './vendors.ts';

export type Effort = Model['reasoning_efforts'][number];

/** What a balance pays for what an allowance would pay one dollar for. */
const BALANCE_RATE = 2;
const LOCKED = ['free_model_locked', 'verify_email'];

type Payer = 'free' | 'plan' | 'balance';

/** By what a reply is paid; null where it could not be paid at all in the user's plan. */
function payerOf({ free, remaining_usd, refusal }: Model): Payer | null {
  if (free) return 'free';
  if (LOCKED.includes(refusal?.code ?? '')) return null;
  return remaining_usd > 0 ? 'plan' : 'balance';
}

/** What a million tokens cost the user, read and written, in US dollars; null where they are not sold. */
function priceOf(model: Model): [number, number] | null {
  const { input_per_1m_usd: input, output_per_1m_usd: output } = model.prices;
  if (input === null || output === null) return null;
  const payer = payerOf(model);
  const rate = payer === 'free' ? 0 : payer === 'balance' ? BALANCE_RATE : 1;
  return [input * rate, output * rate];
}

/** What the user pays for a million tokens; empty where that is not what is sold. */
export function priceWords(model: Model): string {
  if (model.free) return m.models_free();
  const price = priceOf(model);
  return price ? m.models_price({ input: usd(price[0]), output: usd(price[1]) }) : '';
}

/** What one more reply is paid with. */
export function paymentWords(model: Model): string {
  const price = priceWords(model);
  if (model.free) return leftWords(model);
  return payerOf(model) === 'balance' ? m.models_price_balance({ price }) : price;
}

/** How much of a conversation it reads in the user's plan. */
export function contextWords({ context_in_plan }: Model): string {
  return m.models_context({ tokens: compact(context_in_plan) });
}

/** What is left of a model, or by what it is paid. */
export function leftWords({ free, included_in_plan, remaining_usd, allowance_usd }: Model): string {
  if (free)
    return m.models_left_free({ left: Math.max(0, free.limit - free.used), limit: free.limit });
  if (!included_in_plan) return m.models_from_balance();
  if (remaining_usd > 0) {
    return m.models_left({ left: usd(remaining_usd), all: usd(allowance_usd) });
  }
  return m.models_left_nothing();
}

/** The same in few words. */
export function shortLeftWords(model: Model): string {
  return payerOf(model) === 'balance' ? m.models_from_balance_short() : leftWords(model);
}

/** The same in a sentence: of what, how long, and what comes after that. */
export function leftSentence(model: Model): string {
  const { display_name: name, free, included_in_plan, remaining_usd, resets_at } = model;
  if (free) {
    const { limit, window_hours: hours, reset_at } = free;
    const left = Math.max(0, limit - free.used);
    const said = m.models_left_free_sentence({ model: name, left, limit, hours });
    return reset_at ? `${said} ${m.models_free_again({ time: timeOf(reset_at) })}` : said;
  }
  const price = priceWords(model);
  if (!included_in_plan) return m.models_from_balance_sentence({ model: name, price });
  const all = usd(model.allowance_usd);
  const day = resets_at ? dayOf(resets_at) : '';
  return remaining_usd > 0
    ? m.models_left_sentence({ model: name, left: usd(remaining_usd), all, day })
    : m.models_left_nothing_sentence({ model: name, all, day, price });
}

/** What the free plan gives; empty for whoever has another one. */
export function freeWords(models: readonly Model[]): string {
  const limited = models.filter((model) => model.free);
  if (!limited.length) return '';
  const { limit, window_hours: hours } = limited[0]!.free!;
  const most = Math.max(...limited.map(({ context_in_plan }) => context_in_plan));
  return m.models_free_plan({ limit, hours, tokens: compact(most) });
}

/** The part that is left, of 1; null where nothing is counted. */
export function leftPart({
  free,
  included_in_plan,
  remaining_usd,
  allowance_usd
}: Model): number | null {
  if (free) return Math.max(0, 1 - free.used / free.limit);
  return included_in_plan ? Math.min(1, remaining_usd / allowance_usd) : null;
}

/** Why a model cannot be called now; empty where it can. */
export function refusalWords({ refusal, free }: Model): string {
  switch (refusal?.code) {
    case undefined:
      return '';
    case 'free_model_locked':
      return m.models_refused_locked();
    case 'free_limit':
      return free?.reset_at
        ? m.models_refused_limit({ time: timeOf(free.reset_at) })
        : refusal!.message;
    case 'verify_email':
      return m.models_refused_verify();
    case 'insufficient_balance':
      return refusal?.retry_after ? m.models_refused_held() : m.models_refused_balance();
    case 'provider_unavailable':
      return refusal?.retry_after ? m.models_refused_failing() : m.models_refused_unavailable();
    default:
      return refusal!.message;
  }
}

const EFFORTS = {
  low: m.models_effort_low,
  medium: m.models_effort_medium,
  high: m.models_effort_high
};

export function effortName(effort: Effort | null): string {
  return effort === null ? m.models_effort_usual() : EFFORTS[effort]();
}

/** Those whose name, maker or id has all words of the query. */
export function found(models: readonly Model[], query: string): Model[] {
  const words = wordsOf(query);
  return models.filter(({ id, display_name, owned_by, aliases }) =>
    hasWords([display_name, vendorName(owned_by), id, ...aliases].join(' '), words)
  );
}

export interface ModelGroup {
  heading: string;
  models: Model[];
}

/** The same models, those first that cost the user least; without a price they are last. */
export function cheapestFirst(models: readonly Model[]): Model[] {
  const price = (model: Model) => {
    const [input, output] = priceOf(model) ?? [Infinity, Infinity];
    return input + output;
  };
  return models.toSorted((one, other) => price(one) - price(other) || 0);
}

/** Models as they are offered: favourites, those that can be called now, and those that cannot. */
export function offered(models: readonly Model[]): ModelGroup[] {
  const rest = models.filter(({ preferences }) => !preferences?.favourite);
  return [
    {
      heading: m.models_favourites(),
      models: models.filter(({ preferences }) => preferences?.favourite)
    },
    { heading: m.models_callable(), models: rest.filter(({ callable }) => callable) },
    { heading: m.models_not_callable(), models: rest.filter(({ callable }) => !callable) }
  ].filter((group) => group.models.length);
}
