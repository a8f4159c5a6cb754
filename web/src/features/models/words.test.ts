// @vitest-environment jsdom
import { beforeEach, expect, test } from 'vitest';
import { overwriteGetLocale } from '#runtime';
import type { Model } from './models.svelte.ts';
import {
  cheapestFirst,
  contextWords,
  found,
  freeWords,
  leftPart,
  leftSentence,
  leftWords,
  offered,
  paymentWords,
  priceWords,
  refusalWords
} from './words.ts';

const model = (id: string, changes: Partial<Model> = {}) =>
  ({
    id,
    display_name: id.toUpperCase(),
    owned_by: 'openai',
    modality: 'chat',
    aliases: [],
    reasoning_efforts: [],
    context_window: 272_000,
    context_in_plan: 272_000,
    prices: { input_per_1m_usd: 1.1, output_per_1m_usd: 21, per_hour_usd: null },
    callable: true,
    refusal: null,
    included_in_plan: true,
    allowance_usd: 1.5,
    remaining_usd: 0.375,
    resets_at: null,
    free: null,
    default: false,
    preferences: {
      enabled: true,
      favourite: false,
      reasoning_effort: null,
      has_instructions: false
    },
    ...changes
  }) as Model;
const refused = (code: string, retry_after: number | null = null, free: Model['free'] = null) =>
  refusalWords(
    model('a', { callable: false, free, refusal: { code, message: 'The sentence.', retry_after } })
  );
const free = (used: number, reset_at: string | null = null) => ({
  limit: 10,
  window_hours: 4,
  used,
  reset_at
});

beforeEach(() => overwriteGetLocale(() => 'en'));

test('prices are those of a million tokens', () => {
  expect(priceWords(model('a'))).toBe('$1.10 in · $21.00 out');
});

test('a price below a cent is not rounded to nothing', () => {
  const prices = { ...model('a').prices, input_per_1m_usd: 0.0042 };
  expect(priceWords(model('a', { prices }))).toBe('$0.0042 in · $21.00 out');
});

test('what is not sold by tokens has no such price', () => {
  const prices = { ...model('a').prices, input_per_1m_usd: null, output_per_1m_usd: null };
  expect(priceWords(model('a', { prices }))).toBe('');
});

test('numbers are written as the language writes them', () => {
  overwriteGetLocale(() => 'de');
  expect(priceWords(model('a')).replaceAll(/\s/g, ' ')).toBe('1,10 $ Eingabe · 21,00 $ Ausgabe');
  overwriteGetLocale(() => 'en');
  expect(contextWords(model('a'))).toBe('reads 272K tokens');
});

test('of an allowance it is said how much is left', () => {
  expect([leftWords(model('a')), leftPart(model('a'))]).toEqual([
    'Plan: $0.38 of $1.50 left',
    0.25
  ]);
});

test('an allowance that is used up, and a model without one, are paid from the balance', () => {
  expect(leftWords(model('a', { remaining_usd: 0 }))).toContain('balance');
  const without = model('a', { included_in_plan: false, allowance_usd: 0, remaining_usd: 0 });
  expect([leftWords(without), leftPart(without)]).toEqual([
    'Not in your plan: your balance pays, twice the list price',
    null
  ]);
});

test('of a model that the balance pays for the price is what the balance pays', () => {
  const dear = model('a', { included_in_plan: false, remaining_usd: 0 });
  expect(priceWords(dear)).toBe('$2.20 in · $42.00 out');
  expect(paymentWords(dear)).toBe('$2.20 in · $42.00 out from your balance');
  expect(paymentWords(model('a'))).toBe('$1.10 in · $21.00 out');
});

test('what is free has no price, and what the plan locks has that of other plans', () => {
  const chat = model('a', { free: free(3), included_in_plan: false, remaining_usd: 0 });
  expect([priceWords(chat), paymentWords(chat)]).toEqual(['Free', '7 of 10 free messages left']);
  const refusal = { code: 'free_model_locked', message: '', retry_after: null };
  const locked = model('a', { included_in_plan: false, remaining_usd: 0, refusal });
  expect(priceWords(locked)).toBe('$1.10 in · $21.00 out');
});

test('of a window it is told what the plan gives', () => {
  expect(contextWords(model('a', { context_in_plan: 8192 }))).toBe('reads 8.2K tokens');
});

test('what is left is told in a sentence, with its model and until when', () => {
  const resets_at = new Date(2000, 11, 1).toISOString();
  expect(leftSentence(model('a', { resets_at }))).toBe(
    'Your plan has $1.50 a month for A, and $0.38 of it is left. On December 1 it is $1.50 again.'
  );
  expect(leftSentence(model('a', { resets_at, remaining_usd: 0 }))).toContain(
    'Until December 1 your balance pays, twice the list price: $2.20 in'
  );
  const reset_at = new Date().toISOString();
  expect(leftSentence(model('a', { free: free(3, reset_at) }))).toMatch(
    /10 messages to A every 4 hours, and you have 7 of them left. All of them are there again at \d/
  );
});

test('free messages are counted, and never below none', () => {
  const chat = (used: number) => model('a', { free: free(used), included_in_plan: false });
  expect([leftWords(chat(3)), leftPart(chat(3))]).toEqual(['7 of 10 free messages left', 0.7]);
  expect([leftWords(chat(11)), leftPart(chat(11))]).toEqual(['0 of 10 free messages left', 0]);
});

test('a model that can be called is refused for nothing', () => {
  expect(refusalWords(model('a'))).toBe('');
});

test('each reason has its own words', () => {
  const reasons = [
    refused('free_model_locked'),
    refused('free_limit', null, free(10, new Date().toISOString())),
    refused('verify_email'),
    refused('insufficient_balance'),
    refused('insufficient_balance', 10),
    refused('provider_unavailable'),
    refused('provider_unavailable', 30)
  ];
  expect(new Set(reasons).size).toBe(reasons.length);
  expect(reasons).not.toContain('The sentence.');
});

test('a reason that the app does not know is told as the service tells it', () => {
  expect(refused('something_new')).toBe('The sentence.');
});

test('models are found by name, maker, id and former name', () => {
  const all = [
    model('gpt-6-luna', { display_name: 'GPT-6 Luna', aliases: ['gpt-5-mini'] }),
    model('kimi-k3', { display_name: 'Kimi K3', owned_by: 'moonshot' })
  ];
  const ids = (query: string) => found(all, query).map(({ id }) => id);
  expect(ids('luna gpt')).toEqual(['gpt-6-luna']);
  expect(ids('MOONSHOT')).toEqual(['kimi-k3']);
  expect(ids('5-mini')).toEqual(['gpt-6-luna']);
  expect(ids(' ')).toHaveLength(2);
  expect(ids('luna kimi')).toEqual([]);
});

test('favourites come first, those that cannot be called last, and empty groups not at all', () => {
  const preferences = { ...model('a').preferences!, favourite: true };
  const groups = offered([
    model('no', { callable: false }),
    model('yes'),
    model('dear', { preferences, callable: false })
  ]);
  expect(groups.map(({ models }) => models.map(({ id }) => id))).toEqual([
    ['dear'],
    ['yes'],
    ['no']
  ]);
  expect(offered([])).toEqual([]);
});

test('the cheapest come first, and those without a price last', () => {
  const priced = (id: string, input: number | null, output: number | null) =>
    model(id, {
      prices: { ...model(id).prices, input_per_1m_usd: input, output_per_1m_usd: output }
    });
  const all = [priced('none', null, null), priced('dear', 5, 25), priced('cheap', 0.1, 0.4)];
  expect(cheapestFirst(all).map(({ id }) => id)).toEqual(['cheap', 'dear', 'none']);
});

test('what costs the user more comes later, whatever it is listed for', () => {
  const prices = { ...model('a').prices, input_per_1m_usd: 1, output_per_1m_usd: 20 };
  const listed = model('listed', { prices, included_in_plan: false, remaining_usd: 0 });
  expect(cheapestFirst([listed, model('kept')]).map(({ id }) => id)).toEqual(['kept', 'listed']);
});

test('the free plan is explained to those who have it', () => {
  const chat = model('b', { free: free(3), context_in_plan: 8192 });
  expect(freeWords([model('a'), chat])).toBe(
    'In the free plan each of its models takes 10 messages every 4 hours, and reads at most 8.2K tokens.'
  );
  expect(freeWords([model('a')])).toBe('');
});
