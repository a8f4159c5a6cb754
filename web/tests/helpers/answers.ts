import { vi } from 'vitest';
import { session, type User } from '#api/session.svelte.ts';

/** A request that the app has made. */
export interface Asked {
  /** Method and path, such as `GET /api/models`. */
  line: string;
  query: Record<string, string>;
  body: unknown;
}

type Answer = Response | Promise<Response>;

/**
 * A service that alice is signed in to, in the place of the network. `answer` is called for each request;
 * what was asked is kept in order.
 */
export function serviceOf(answer: (asked: Asked) => Answer) {
  const asked: Asked[] = [];
  vi.stubGlobal('fetch', async (request: Request) => {
    const { pathname, searchParams } = new URL(request.url);
    const text = await request.text();
    asked.push({
      line: `${request.method} ${pathname}`,
      query: Object.fromEntries(searchParams),
      body: text ? JSON.parse(text) : null
    });
    return answer(asked.at(-1)!);
  });
  session.signedIn({
    access_token: 'alice',
    token_type: 'Bearer',
    expires_in: 3600,
    user: { id: 'alice', email: 'alice@example.com' } as User
  });
  return asked;
}

export const refused = (status: number, code: string) =>
  Response.json({ detail: 'No.', code }, { status });

/** Something that a test decides when it comes. */
export function deferred<Value>() {
  let resolve!: (value: Value) => void;
  const promise = new Promise<Value>((done) => (resolve = done));
  return { promise, resolve };
}
