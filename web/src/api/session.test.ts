// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Session, type User } from './session.svelte.ts';

const pair = (name: string, token = name) => ({
  access_token: token,
  token_type: 'Bearer',
  expires_in: 3600,
  user: { id: name, email: `${name}@example.com` } as User
});
const refusal = (status: number, code: string) =>
  Response.json({ detail: 'No.', code }, { status });
const soon = () => new Promise((resolve) => setTimeout(resolve, 20));
const answers: Response[] = [];
const channels: BroadcastChannel[] = [];
const reload = vi.fn();

// A tab of the browser that all tabs of a test share.
const tab = () => new Session();

class Channel extends BroadcastChannel {
  constructor(name: string) {
    // The session of the module itself is none of these tabs.
    super(`${name} of the test`);
    channels.push(this);
  }
}

beforeEach(() => {
  vi.stubGlobal('fetch', async () => answers.shift() ?? refusal(401, 'not_signed_in'));
  vi.stubGlobal('location', { reload });
  vi.stubGlobal('BroadcastChannel', Channel);
  Object.assign(navigator, { locks: { request: (_: string, act: () => unknown) => act() } });
});

afterEach(() => {
  channels.splice(0).forEach((channel) => channel.close());
  answers.length = 0;
  reload.mockClear();
  vi.unstubAllGlobals();
});

test('a browser without a cookie is not told that a session has ended', async () => {
  const session = tab();
  await session.begin();
  expect([session.isSignedIn, session.ending]).toEqual([false, null]);
});

test('a browser with a cookie goes on as whom it was', async () => {
  const session = tab();
  answers.push(Response.json(pair('alice')));
  await session.begin();
  expect([session.user?.id, await session.token()]).toEqual(['alice', 'alice']);
});

test('several calls that are refused at once find one reason', async () => {
  const session = tab();
  session.signedIn(pair('alice'));
  answers.push(refusal(401, 'invalid_token'));
  await expect(session.renewed('alice')).rejects.toThrow();
  expect(session.ending).toBe('session_ended');
  // The service has deleted the cookie by now.
  await expect(session.renewed('alice')).rejects.toThrow();
  expect(session.ending).toBe('session_ended');
});

test('a suspended account is told so', async () => {
  const session = tab();
  answers.push(refusal(403, 'account_disabled'));
  await session.begin();
  expect([session.isSignedIn, session.ending]).toEqual([false, 'account_disabled']);
});

test('a service that is away ends no session', async () => {
  const session = tab();
  session.signedIn(pair('alice'));
  answers.push(refusal(503, 'service_unavailable'));
  await expect(session.renewed('alice')).rejects.toThrow();
  expect([session.isSignedIn, session.ending]).toEqual([true, null]);
});

test('tabs sign in and out together', async () => {
  const [first, second] = [tab(), tab()];
  first.signedIn(pair('alice'));
  await vi.waitFor(() => expect(second.user?.id).toBe('alice'));
  second.signedOut();
  await vi.waitFor(() => expect(first.isSignedIn).toBe(false));
  expect(first.ending).toBe('signed_out');
});

test('a new tab without a session leaves the others their reason', async () => {
  const first = tab();
  first.signedOut('session_ended');
  await tab().begin();
  await soon();
  expect(first.ending).toBe('session_ended');
});

test('the same person goes on where they were, another one begins anew', () => {
  const session = tab();
  session.signedIn(pair('alice'));
  session.signedOut();
  session.signedIn(pair('alice', 'another token'));
  expect(reload).not.toHaveBeenCalled();
  session.signedOut();
  session.signedIn(pair('bob'));
  expect(reload).toHaveBeenCalledOnce();
  expect(session.user).toBeNull();
});
