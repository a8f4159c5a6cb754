// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { deferred, refused, serviceOf, type Asked } from '../../../tests/helpers/answers.ts';
import { Preferences, type Agent } from './preferences.svelte.ts';

const agent = (): Agent => ({
  model: 'gpt-6-luna',
  display_name: 'GPT-6 Luna',
  enabled: true,
  favourite: false,
  instructions: '',
  reasoning_effort: null
});
const saved = (asked: Asked[]) =>
  asked.filter(({ line }) => line.startsWith('PATCH')).map(({ body }) => body);

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('a change is shown at once, saved, and said to be saved', async () => {
  const asked = serviceOf(({ line }) => Response.json(line.startsWith('PATCH') ? agent() : []));
  const preferences = new Preferences(agent());
  preferences.change({ favourite: true });
  expect([preferences.wanted.favourite, preferences.saving]).toEqual([true, 'idle']);
  await vi.runAllTimersAsync();
  expect([saved(asked), preferences.saving]).toEqual([[{ favourite: true }], 'saved']);
  expect(asked[0]?.line).toBe('PATCH /api/agents/gpt-6-luna');
});

test('what is typed is saved once, after a pause', async () => {
  const asked = serviceOf(() => Response.json([]));
  const preferences = new Preferences(agent());
  for (const instructions of ['B', 'Be', 'Be brief.']) preferences.change({ instructions }, 800);
  await vi.advanceTimersByTimeAsync(700);
  expect(saved(asked)).toEqual([]);
  await vi.advanceTimersByTimeAsync(200);
  expect(saved(asked)).toEqual([{ instructions: 'Be brief.' }]);
});

test('what is typed while it is saved is saved after it', async () => {
  const first = deferred<Response>();
  const asked = serviceOf(({ line, body }) =>
    line.startsWith('PATCH') && (body as Agent).instructions === 'Be'
      ? first.promise
      : Response.json([])
  );
  const preferences = new Preferences(agent());
  preferences.change({ instructions: 'Be' });
  await vi.advanceTimersByTimeAsync(0);
  preferences.change({ instructions: 'Be brief.' });
  await vi.advanceTimersByTimeAsync(0);
  first.resolve(Response.json(agent()));
  await vi.runAllTimersAsync();
  expect(saved(asked)).toEqual([{ instructions: 'Be' }, { instructions: 'Be brief.' }]);
  expect(preferences.saving).toBe('saved');
});

test('what could not be saved is kept, and saved with what was changed since', async () => {
  let isBroken = true;
  const asked = serviceOf(() =>
    isBroken ? refused(503, 'service_unavailable') : Response.json([])
  );
  const preferences = new Preferences(agent());
  preferences.change({ instructions: 'Be brief.' });
  await vi.runAllTimersAsync();
  expect([preferences.saving, preferences.refusal?.code]).toEqual([
    'failed',
    'service_unavailable'
  ]);
  expect(preferences.wanted.instructions).toBe('Be brief.');

  isBroken = false;
  preferences.change({ favourite: true });
  await vi.runAllTimersAsync();

  expect(saved(asked).at(-1)).toEqual({ instructions: 'Be brief.', favourite: true });
  expect([preferences.saving, preferences.refusal]).toEqual(['saved', null]);
});

test('nothing is sent where nothing was changed', async () => {
  const asked = serviceOf(() => Response.json([]));
  await new Preferences(agent()).save();
  expect(asked).toEqual([]);
});
