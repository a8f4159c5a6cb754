import { m } from '#messages';
import { compact, timeOf, usd } from '#ui/numbers.ts';
import { hasWords, wordsOf } from '#ui/words.ts';
import type { Model } from './models.svelte.ts';
import { vendorName } from './vendors.ts';

export type Effort = Model['reasoning_efforts'][number];

/** What a million tokens cost, read and written, in US dollars; empty where that is not what is sold. */
export function priceWords({ prices }: Model): string {
  const { input_per_1m_usd: input, output_per_1m_usd: output } = prices;
  if (input === null || output === null) return '';
  return m.models_price({ input: usd(input), output: usd(output) });
}

export function contextWords({ context_window }: Model): string {
  return m.models_context({ tokens: compact(context_window) });
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

/** What the free plan gives; empty for whoever has another one. */
export function freeWords(models: readonly Model[]): string {
  const { free } = models.find((model) => model.free) ?? { free: null };
  return free ? m.models_free_plan({ limit: free.limit, hours: free.window_hours }) : '';
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

/** The same models, those first that cost least to read and write with; without a price they are last. */
export function cheapestFirst(models: readonly Model[]): Model[] {
  const price = ({ prices }: Model) =>
    (prices.input_per_1m_usd ?? Infinity) + (prices.output_per_1m_usd ?? Infinity);
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
