// @vitest-environment jsdom
import { beforeEach, expect, test } from 'vitest';
import { overwriteGetLocale } from '#runtime';
import { Refusal } from '#api/refusal.ts';
import { models, type Model } from '#features/models/models.svelte.ts';
import { wordsOf } from './refusals.ts';

overwriteGetLocale(() => 'en');

const model = (id: string, fields: Partial<Model> = {}) =>
  ({
    id,
    display_name: id.toUpperCase(),
    modality: 'chat',
    aliases: [],
    preferences: { enabled: true },
    callable: true,
    free: null,
    remaining_usd: 0,
    context_window: 1000,
    context_in_plan: 1000,
    ...fields
  }) as unknown as Model;

beforeEach(() => {
  models.all = [
    model('asked'),
    model('dear'),
    model('kept', { remaining_usd: 2 }),
    model('off', { callable: false })
  ];
});

function words(
  status: number,
  code: string,
  fields: Record<string, unknown> = {},
  retryAfter: number | null = null
) {
  const refusal = new Refusal(status, code, 'The service’s own words.', { fields, retryAfter });
  return wordsOf({ refusal, model: 'asked', again: () => {} });
}

const helps = (said: ReturnType<typeof words>) =>
  said.helps.map((help) => (help.kind === 'model' ? help.model.id : help.kind));

test('without money the amounts are told, and models that are paid for come first', () => {
  const said = words(402, 'insufficient_for_request', {
    needed_usd: 0.02,
    afford_usd: 0.011,
    held_usd: 0
  });
  expect(said.text).toContain('ASKED');
  expect(said.facts).toEqual(['Needed: $0.02', 'Left: $0.01']);
  expect(helps(said)).toEqual(['kept', 'dear']);
});

test('money that running replies hold is waited for', () => {
  const said = words(
    402,
    'insufficient_balance',
    { needed_usd: 1, available_usd: 0, held_usd: 3 },
    9
  );
  expect(said.text).toMatch(/^Replies that are being written hold the money/);
  expect(said.facts).toEqual([
    'Needed: $1.00',
    'Available: $0.00',
    'Held by running replies: $3.00'
  ]);
  expect(said.helps[0]).toEqual({ kind: 'again', after: 9 });
});

test('free messages that are used up are there again at a time', () => {
  const fields = {
    limit: 10,
    window_hours: 4,
    used: 10,
    reset_at: new Date(2000, 0, 1, 14, 5).toISOString()
  };
  const said = words(402, 'free_limit', fields);
  expect(said.text).toMatch(/your 10 free messages to ASKED within 4 hours.*2:05/);
  expect(helps(said)).toEqual(['kept', 'dear']);
});

test('an address is to be confirmed', () => {
  expect(helps(words(402, 'verify_email'))).toEqual(['verify']);
});

test('of what is too long the length is told, and who reads more', () => {
  models.all = [...models.all, model('large', { context_window: 5000, context_in_plan: 5000 })];
  const said = words(422, 'input_too_long', {
    length: 1500,
    limit: 900,
    unit: 'tokens',
    largest_file: null
  });
  expect(said.text).toContain('about 1,500 tokens long, and ASKED reads at most 900 tokens');
  expect(helps(said)).toEqual(['large']);
  const withFile = words(422, 'input_too_long', {
    length: 1500,
    limit: 900,
    unit: 'characters',
    largest_file: 'sea.txt'
  });
  expect(withFile.text).toContain('“sea.txt”');
  // The characters are limited for all.
  expect(helps(withFile)).toEqual([]);
});

test('what is too long for a plan is told as the plan’s, and no model is offered that refuses too', () => {
  models.all = [...models.all, model('large', { context_window: 5000 })];
  const fields = { length: 1500, limit: 900, unit: 'tokens', limited_by: 'plan' };
  const said = words(422, 'input_too_long', { ...fields, largest_file: null });
  expect(said.text).toBe(
    'This is about 1,500 tokens long, and in your plan models read at most 900 tokens. ' +
      'Shorten it. Other plans allow more.'
  );
  expect(helps(said)).toEqual([]);
  const withFile = words(422, 'input_too_long', { ...fields, largest_file: 'sea.txt' });
  expect(withFile.text).toContain('in your plan models read at most 900 tokens');
});

test('a model that reads more, and still too little, is not offered', () => {
  models.all = [...models.all, model('larger', { context_in_plan: 1500 })];
  const fields = { length: 1500, limit: 900, unit: 'tokens', largest_file: null };
  expect(helps(words(422, 'input_too_long', fields))).toEqual([]);
});

test.each([
  [409, 'reply_running', []],
  [409, 'conversation_full', ['new-chat']],
  [429, 'too_many_runs', ['again']],
  [503, 'service_unavailable', ['again']],
  [503, 'provider_unavailable', ['again', 'kept', 'dear']],
  [0, 'unreachable', ['again']]
])('a %i %s is told in words, with what helps', (status, code, expected) => {
  const said = words(status, code);
  expect(said.text).not.toBe('The service’s own words.');
  expect(helps(said)).toEqual(expected);
});

test('of what is rare the service’s own words are told', () => {
  expect(words(422, 'validation_failed').text).toBe('The service’s own words.');
});
