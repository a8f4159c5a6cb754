import { m } from '#messages';
import type { Refusal } from '#api/refusal.ts';
import { models, type Model } from '#features/models/models.svelte.ts';
import { count, timeOf, usd } from '#ui/numbers.ts';
import type { Problem } from './state/problem.ts';

/** What helps against a refusal. */
export type Help =
  /** The same, answered by this model. */
  | { kind: 'model'; model: Model }
  | { kind: 'verify' }
  /** The same once more, as soon as it may be. */
  | { kind: 'again'; after: number }
  | { kind: 'new-chat' };

export interface Words {
  text: string;
  /** Amounts, which the sentence is about. */
  facts: string[];
  helps: Help[];
  tone: 'warning' | 'danger';
}

const MOST_MODELS = 3;

/** A refusal in words, with what helps. */
export function wordsOf({ refusal, model, again }: Omit<Problem, 'answered'>): Words {
  // The conversation's own model, where none was named, is in the refusal.
  const key = model ?? (refusal.fields.model_key as string | null | undefined);
  const name = models.nameOf(key ?? '') || m.chat_the_model();
  const [text, facts] = sentence(refusal, name);
  const helps = helpsAgainst(refusal, model).filter(
    ({ kind }) => again || kind === 'verify' || kind === 'new-chat'
  );
  return {
    text,
    facts,
    helps,
    tone: refusal.status >= 500 || refusal.status === 0 ? 'danger' : 'warning'
  };
}

function sentence(refusal: Refusal, model: string): [string, string[]] {
  const fields = refusal.fields as Record<string, number & string>;
  switch (refusal.code) {
    case 'unreachable':
      return [m.unreachable(), []];
    case 'free_limit': {
      const { limit, window_hours, reset_at } = fields;
      const time = timeOf(reset_at!);
      return [m.chat_free_limit({ model, limit: limit!, hours: window_hours!, time }), []];
    }
    case 'free_model_locked':
      return [m.chat_free_model_locked({ model }), []];
    case 'verify_email':
      return [m.chat_verify_email(), []];
    case 'insufficient_balance':
    case 'insufficient_for_request':
      return [
        refusal.retryAfter ? m.chat_money_held({ model }) : m.chat_no_money({ model }),
        amounts(refusal)
      ];
    case 'input_too_long':
      return [tooLong(fields, model), []];
    case 'reply_running':
      return [m.chat_reply_running(), []];
    case 'conversation_full':
      return [m.chat_full(), []];
    case 'too_many_runs':
      return [m.chat_too_many_runs(), []];
    case 'rate_limit_exceeded':
      return [m.chat_rate_limited(), []];
    case 'provider_unavailable':
      return [m.chat_model_unavailable({ model }), []];
    case 'free_budget_spent':
      return [m.chat_free_budget_spent(), []];
    case 'service_unavailable':
      return [m.chat_service_unavailable(), []];
    default:
      return [refusal.message, []];
  }
}

function amounts({ fields }: Refusal): string[] {
  const { needed_usd, available_usd, held_usd, afford_usd } = fields as Record<
    string,
    number | null
  >;
  const facts: string[] = [];
  if (needed_usd != null) facts.push(m.chat_needed({ amount: usd(needed_usd) }));
  if (afford_usd != null) facts.push(m.chat_affordable({ amount: usd(afford_usd) }));
  else if (available_usd != null) facts.push(m.chat_available({ amount: usd(available_usd) }));
  if (held_usd) facts.push(m.chat_held({ amount: usd(held_usd) }));
  return facts;
}

function tooLong(
  { length, limit, unit, limited_by, largest_file }: Record<string, number & string>,
  model: string
): string {
  if (length === undefined || limit === undefined) return m.chat_too_long({ model });
  const words = unit === 'tokens' ? m.chat_tokens : m.chat_characters;
  const sizes = {
    model,
    length: words({ count: count(length) }),
    limit: words({ count: count(limit) })
  };
  const isPlans = limited_by === 'plan';
  if (largest_file) {
    const withFile = isPlans ? m.chat_too_long_in_plan_with_file : m.chat_too_long_with_file;
    return withFile({ ...sizes, file: largest_file });
  }
  return isPlans ? m.chat_too_long_in_plan(sizes) : m.chat_too_long_by(sizes);
}

function helpsAgainst(refusal: Refusal, model: string | null): Help[] {
  const { status, code, retryAfter } = refusal;
  const again: Help = { kind: 'again', after: retryAfter ?? 0 };
  if (code === 'verify_email') return [{ kind: 'verify' }];
  if (code === 'conversation_full') return [{ kind: 'new-chat' }];
  if (code === 'input_too_long') return others(model, (other) => reads(other, refusal, model));
  if (code === 'reply_running') return [];
  if (status === 402) return [...(retryAfter ? [again] : []), ...others(model)];
  if (code === 'provider_unavailable') return [again, ...others(model)];
  return status === 429 || status >= 500 || status === 0 ? [again] : [];
}

/** Would a model read what was too long for another one? All keep about the same room for their answer. */
function reads({ context_in_plan }: Model, { fields }: Refusal, model: string | null): boolean {
  const { length, limit, unit } = fields as Record<string, number & string>;
  // The characters are limited for all of them.
  if (unit === 'characters') return false;
  const more = context_in_plan - (models.find(model)?.context_in_plan ?? 0);
  return length === undefined || limit === undefined ? more > 0 : more >= length - limit;
}

/** Models that could answer now; for whoever has no money those come first that cost nothing. */
function others(model: string | null, suits: (model: Model) => boolean = () => true): Help[] {
  const callable = models.chat.filter(
    (other) => other.id !== model && other.callable && suits(other)
  );
  const isFree = ({ free, remaining_usd }: Model) => Number(free !== null || remaining_usd > 0);
  const sorted = callable.toSorted((one, other) => isFree(other) - isFree(one));
  return sorted.slice(0, MOST_MODELS).map((other) => ({ kind: 'model', model: other }));
}
