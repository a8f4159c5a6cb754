import createClient from 'openapi-fetch';
import { Refusal, refusalFrom, refusalOf, UNREACHABLE } from './refusal.ts';
import type { paths } from './schema.d.ts';
import { session } from './session.svelte.ts';

/**
 * `fetch` as whoever is signed in. A token that is refused is renewed, once. Raises a Refusal where there
 * is no answer, or no session any more.
 */
export async function authorizedFetch(input: RequestInfo | URL, init?: RequestInit) {
  const request = new Request(input, init);
  const token = await session.token();
  const response = await send(request.clone(), token);
  if (response.status === 403) await endIfSuspended(response);
  if (response.status !== 401) return response;
  return send(request, await session.renewed(token));
}

async function endIfSuspended(response: Response): Promise<void> {
  const { code } = await refusalOf(response.clone());
  if (code === 'account_disabled') session.signedOut(code);
}

async function send(request: Request, token: string): Promise<Response> {
  if (token) request.headers.set('Authorization', `Bearer ${token}`);
  try {
    return await fetch(request);
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw new Refusal(0, UNREACHABLE, (error as Error).message);
  }
}

/** `/api` as whoever is signed in. */
export const api = createClient<paths>({ baseUrl: location.origin, fetch: authorizedFetch });

/** `/api` as nobody: signing in, and what is public. */
export const publicApi = createClient<paths>({
  baseUrl: location.origin,
  fetch: (request) => send(request, '')
});

interface Answer<Body> {
  data?: Body;
  error?: unknown;
  response: Response;
}

/** What a request has brought: `await answer(api.GET('/api/models'))`. Raises a Refusal. */
export async function answer<Body>(call: Promise<Answer<Body>>): Promise<Body> {
  const { data, error, response } = await call;
  if (!response.ok) throw refusalFrom(response, error);
  return data as Body;
}
