// @vitest-environment jsdom
import { expect, test, vi } from 'vitest';
import { serviceOf } from '../../../tests/helpers/answers.ts';
import { Models, type Model } from './models.svelte.ts';

const luna = (changes: Partial<Model>) =>
  ({
    id: 'luna',
    aliases: [],
    free: null,
    remaining_usd: 0,
    preferences: { enabled: true },
    ...changes
  }) as unknown as Model;
const window = (used: number) => ({ limit: 10, window_hours: 4, used, reset_at: null });
const NOTHING = { paid_by_plan_usd: 0, paid_by_balance_usd: 0 };

function modelsWith(model: Model) {
  const asked = serviceOf(() => Response.json([luna({ callable: false })]));
  const models = new Models();
  models.all = [model];
  return { models, asked };
}

test('what a reply has cost is taken off what is left, without a request', async () => {
  const { models, asked } = modelsWith(luna({ free: window(3) }));
  models.replied('luna', NOTHING);
  expect(models.find('luna')!.free!.used).toBe(4);
  models.all = [luna({ remaining_usd: 1 })];
  models.replied('luna', { paid_by_plan_usd: 0.25, paid_by_balance_usd: 0 });
  expect(models.find('luna')!.remaining_usd).toBe(0.75);
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(asked).toEqual([]);
});

test.each([
  [luna({ free: window(9) }), NOTHING],
  [luna({ remaining_usd: 0.25 }), { paid_by_plan_usd: 0.25, paid_by_balance_usd: 0.1 }]
])('after the last of it, what comes then is loaded at once', async (model, payment) => {
  const { models, asked } = modelsWith(model);
  models.replied('luna', payment);
  await vi.waitFor(() => expect(models.find('luna')!.callable).toBe(false));
  expect(asked.map(({ line }) => line)).toEqual(['GET /api/models']);
});
