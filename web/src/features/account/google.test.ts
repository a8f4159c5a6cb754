// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { authorizeUrl, readReturn, takeReturn, type Attempt } from './google.ts';

const attempt: Attempt = { state: 'the state', nonce: 'the nonce', next: '/models' };
const google = { authorize_url: 'https://accounts.example/auth?hd=here', client_id: 'web' };

test('Google is asked for a token that is bound to this attempt', () => {
  const url = new URL(authorizeUrl(google, attempt, 'https://app.example'));
  expect(url.origin + url.pathname).toBe('https://accounts.example/auth');
  expect(Object.fromEntries(url.searchParams)).toEqual({
    hd: 'here',
    client_id: 'web',
    redirect_uri: 'https://app.example/google',
    response_type: 'id_token',
    scope: 'openid email profile',
    state: 'the state',
    nonce: 'the nonce'
  });
});

test('a token that was asked for is taken, with the nonce that it has to carry', () => {
  expect(readReturn('#id_token=abc&state=the+state', attempt)).toEqual({
    token: 'abc',
    nonce: 'the nonce',
    next: '/models'
  });
});

test.each(['#id_token=abc&state=another', '#id_token=abc', '#id_token=abc&state=', ''])(
  'a return that nobody here asked for is refused: %j',
  (hash) => {
    expect(readReturn(hash, attempt)).toEqual({ problem: 'foreign', next: '/' });
  }
);

test('without an attempt in this tab no return is taken, not even one without a state', () => {
  expect(readReturn('#id_token=abc&state=the+state', null)).toEqual({
    problem: 'foreign',
    next: '/'
  });
  expect(readReturn('#id_token=abc', null)).toEqual({ problem: 'foreign', next: '/' });
});

test('whoever has cancelled still goes back to where they were', () => {
  expect(readReturn('#error=access_denied&state=the+state', attempt)).toEqual({
    problem: 'cancelled',
    next: '/models'
  });
});

test('an attempt counts once', () => {
  sessionStorage.setItem('google', JSON.stringify(attempt));
  expect(takeReturn('#id_token=abc&state=the+state')).toHaveProperty('token', 'abc');
  expect(takeReturn('#id_token=abc&state=the+state')).toHaveProperty('problem', 'foreign');
});
