// @vitest-environment jsdom
import { afterEach, expect, test } from 'vitest';
import { Refusal } from '#api/refusal.ts';
import { Submission } from './submission.svelte.ts';

const submission = () => new Submission(['email', 'password']);
const refuse = (refusal: Refusal) => () => Promise.reject(refusal);
const invalid = (...fields: string[]) =>
  new Refusal(422, 'validation_failed', 'No.', {
    fields: { errors: fields.map((field) => ({ loc: ['body', field], msg: `${field} is wrong.` })) }
  });
const started: Submission[] = [];

afterEach(() => started.splice(0).forEach(({ wait }) => wait.stop()));

test('what is known to be wrong is not sent', async () => {
  const form = submission();
  let sent = 0;
  const act = async () => sent++;
  expect(await form.send(act, { email: 'Missing.', password: undefined })).toBe(false);
  expect([sent, form.problems.email]).toEqual([0, 'Missing.']);
  expect(await form.send(act)).toBe(true);
  expect([sent, form.problems]).toEqual([1, {}]);
});

test('what the service finds wrong is said at the fields', async () => {
  const form = submission();
  expect(await form.send(refuse(invalid('email', 'password')))).toBe(false);
  expect(form.problems).toEqual({ email: 'email is wrong.', password: 'password is wrong.' });
  expect(form.refusal).toBeNull();
});

test('what is wrong with no field of the form is said above it', async () => {
  const form = submission();
  await form.send(refuse(invalid('token')));
  expect(form.refusal?.code).toBe('validation_failed');
});

test('whoever was too fast waits as long as the service says', async () => {
  const form = submission();
  started.push(form);
  await form.send(refuse(new Refusal(429, 'too_many_attempts', 'Wait.', { retryAfter: 30 })));
  expect(form.wait.seconds).toBe(30);
  expect(await form.send(async () => undefined)).toBe(false);
  form.wait.stop();
  expect(await form.send(async () => undefined)).toBe(true);
  expect(form.refusal).toBeNull();
});

test('a second click while it is under way sends nothing', async () => {
  const form = submission();
  let [sent, finish] = [0, () => {}];
  const act = () => (sent++, new Promise<void>((resolve) => (finish = resolve)));
  const first = form.send(act);
  expect(form.isBusy).toBe(true);
  expect(await form.send(act)).toBe(false);
  finish();
  expect([await first, sent, form.isBusy]).toEqual([true, 1, false]);
});

test('a fault of the app is not taken for a refusal', async () => {
  const form = submission();
  await expect(form.send(() => Promise.reject(new TypeError('oops')))).rejects.toThrow('oops');
  expect(form.isBusy).toBe(false);
});
