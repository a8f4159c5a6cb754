import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { Refusal } from '#api/refusal.ts';
import { readReply, regenerate, running, sendMessage, type ReplyEvent } from './reply.ts';

type Answer = (response: ServerResponse, request: IncomingMessage) => void;
interface Asked {
  line: string;
  headers: IncomingMessage['headers'];
  body: string;
}

let server: Server | null = null;

afterEach(() => {
  vi.useRealTimers();
  server?.closeAllConnections();
  server?.close();
  server = null;
});

/** A service that gives these answers, one after the other, and what it was asked. */
async function service(...answers: Answer[]) {
  const asked: Asked[] = [];
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => (body += part));
    request.on('end', () => {
      asked.push({ line: `${request.method} ${request.url}`, headers: request.headers, body });
      answers[asked.length - 1]!(response, request);
    });
  });
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { asked, fetch: (path: string, init: RequestInit) => fetch(origin + path, init) };
}

const frame = (place: number, data: object) => `id: ${place}\ndata: ${JSON.stringify(data)}\n\n`;
const START = frame(0, { type: 'start', messageId: 'reply', messageMetadata: {} });
const text = (place: number, delta: string) => frame(place, { type: 'text-delta', id: '1', delta });
const FINISH = frame(9, { type: 'finish', finishReason: 'stop', usage: null });
const DONE = 'data: [DONE]\n\n';

const stream =
  (...parts: string[]): Answer =>
  (response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.end(parts.join(''));
  };
/** A connection that breaks after these parts. */
const cut =
  (...parts: string[]): Answer =>
  (response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.write(parts.join(''), () => setTimeout(() => response.destroy(), 20));
  };
const json =
  (status: number, body: object, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
const refusal = (status: number, code: string, headers = {}) =>
  json(status, { detail: 'No.', code }, headers);
const nothing: Answer = (response) => response.writeHead(204).end();

const MESSAGES = '/api/conversations/talk/messages';
const say = () => sendMessage('talk', { id: 'mine', content: 'Why?' });

async function read(
  { fetch }: Awaited<ReturnType<typeof service>>,
  call = say(),
  signal = new AbortController().signal
) {
  const events: ReplyEvent[] = [];
  for await (const event of readReply(call, fetch, signal)) events.push(event);
  return events;
}

const textOf = (events: ReplyEvent[]) =>
  events.map((event) => (event.type === 'text-delta' ? event.delta : '')).join('');

test('a reply is read to its end', async () => {
  const web = await service(stream(START, text(3, 'The'), text(7, ' sea'), FINISH, DONE));

  const events = await read(web);

  expect(textOf(events)).toBe('The sea');
  expect(events.at(-1)!.type).toBe('finish');
  expect(web.asked.map(({ line }) => line)).toEqual([`POST ${MESSAGES}`]);
  expect(web.asked[0]!.headers['idempotency-key']).toBe('mine');
  expect(JSON.parse(web.asked[0]!.body)).toEqual({ id: 'mine', content: 'Why?' });
});

test('one that was cut in the middle goes on where it was', async () => {
  const web = await service(
    cut(START, text(3, 'The'), 'id: 7\ndata: {"type":"text-'),
    stream(text(7, ' sea'), FINISH, DONE)
  );

  const events = await read(web);

  expect(textOf(events)).toBe('The sea');
  expect(web.asked[1]!.line).toBe(`GET ${MESSAGES}/reply/stream`);
  expect(web.asked[1]!.headers['last-event-id']).toBe('3');
});

test('one whose server restarts goes on where it was', async () => {
  const web = await service(stream(START, text(3, 'The')), stream(text(7, ' sea'), FINISH));

  expect(textOf(await read(web))).toBe('The sea');
});

test('a character that is cut in two is whole', async () => {
  const [before, after] = ['id: 1\ndata: {"type":"text-delta","id":"1","delta":"', '"}\n\n'];
  const web = await service((response) => {
    response.write(START + before);
    response.write(Buffer.from('é').subarray(0, 1));
    setTimeout(() => {
      response.write(Buffer.from('é').subarray(1));
      response.end(after + FINISH);
    }, 20);
  });

  expect(textOf(await read(web))).toBe('é');
});

test('a message is sent again under its key until it arrives', async () => {
  const refuse: Answer = (response) => void response.destroy();
  const web = await service(refuse, refuse, stream(START, text(3, 'The'), FINISH));

  const events = await read(web);

  expect(textOf(events)).toBe('The');
  expect(web.asked.map(({ headers }) => headers['idempotency-key'])).toEqual(Array(3).fill('mine'));
  expect(events.filter(({ type }) => type === 'broken')).toHaveLength(2);
});

test('a message that had arrived is followed', async () => {
  const web = await service(
    (response) => void response.destroy(),
    refusal(409, 'idempotency_in_progress'),
    stream(START, text(3, 'The'), FINISH)
  );

  expect(textOf(await read(web))).toBe('The');
  expect(web.asked[2]!.line).toBe(`GET ${MESSAGES}/mine/stream`);
});

test.each([204, 404])('one that has ended meanwhile (%i) is sent again', async (status) => {
  const web = await service(
    refusal(409, 'idempotency_in_progress'),
    status === 204 ? nothing : refusal(404, 'not_found'),
    stream(START, text(3, 'The'), FINISH)
  );

  expect(textOf(await read(web))).toBe('The');
  expect(web.asked[2]!.line).toBe(`POST ${MESSAGES}`);
});

test('what has ended while nobody looked is loaded', async () => {
  const message = { id: 'reply', status: 'completed', content: 'The sea' };
  const web = await service(cut(START, text(3, 'The')), nothing, json(200, message));

  const events = await read(web);

  expect(events.at(-1)).toEqual({ type: 'stored', message });
  expect(web.asked[2]!.line).toBe(`GET ${MESSAGES}/reply`);
});

test('of an interrupted reply what is stored takes the place of what has come', async () => {
  const error = frame(3, { type: 'error', errorText: 'It broke.', code: 'interrupted' });
  const message = { id: 'reply', status: 'failed', content: 'T' };
  const web = await service(stream(START, text(3, 'The'), error, FINISH, DONE), json(200, message));

  const events = await read(web);

  expect(events.at(-1)).toEqual({ type: 'stored', message });
});

test('a reply of which something is there is followed from there on', async () => {
  const web = await service(stream(text(7, ' sea'), FINISH, DONE));

  expect(textOf(await read(web, running('talk', 'reply', 3)))).toBe(' sea');
  expect(web.asked[0]!.headers['last-event-id']).toBe('3');
});

test('a reply of a dead server is awaited', async () => {
  const web = await service(
    nothing,
    json(200, { id: 'reply', status: 'running' }),
    nothing,
    json(200, { id: 'reply', status: 'failed' })
  );

  const events = await read(web, running('talk', 'reply'));

  expect(events.at(-1)).toMatchObject({ type: 'stored', message: { status: 'failed' } });
});

test.each([
  [402, 'free_limit'],
  [409, 'reply_running'],
  [422, 'input_too_long'],
  [429, 'too_many_runs'],
  [503, 'provider_unavailable']
])('a message that is refused (%i %s) is not sent again', async (status, code) => {
  const web = await service(refusal(status, code, { 'Retry-After': '7' }));

  const caught = await read(web).catch((error: Error) => error);

  expect(caught).toBeInstanceOf(Refusal);
  expect(caught).toMatchObject({ status, code, retryAfter: 7 });
  expect(web.asked).toHaveLength(1);
});

test.each([429, 503])('a server that takes no more readers (%i) is asked again', async (status) => {
  const web = await service(
    cut(START, text(3, 'The')),
    refusal(status, 'busy', { 'Retry-After': '1' }),
    stream(text(7, ' sea'), FINISH)
  );

  const begun = Date.now();
  expect(textOf(await read(web))).toBe('The sea');
  expect(Date.now() - begun).toBeGreaterThan(950);
});

test('a proxy whose service is away is asked again', async () => {
  const away: Answer = (response) => response.writeHead(502).end('<h1>Bad Gateway</h1>');
  const web = await service(away, stream(START, text(3, 'The'), FINISH));

  expect(textOf(await read(web))).toBe('The');
});

test('a reply that is gone is not waited for', async () => {
  const web = await service(cut(START), refusal(404, 'not_found'));

  await expect(read(web)).rejects.toMatchObject({ status: 404 });
});

test('a connection on which nothing comes is given up', async () => {
  const realTimeout = setTimeout;
  const stalls: Answer = (response) => {
    response.write(START + text(3, 'The'));
    realTimeout(() => vi.advanceTimersByTime(46_000), 50);
  };
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
  const web = await service(stalls, stream(text(7, ' sea'), FINISH));

  expect(textOf(await read(web))).toBe('The sea');
});

test('whoever leaves hangs up, and hears no error', async () => {
  const left = new AbortController();
  const hungUp = Promise.withResolvers<void>();
  const web = await service((response, request) => {
    request.socket.on('close', () => hungUp.resolve());
    response.write(START);
    setTimeout(() => left.abort(), 20);
  });

  const events = await read(web, say(), left.signal);

  expect(events.map(({ type }) => type)).toEqual(['connected', 'start']);
  await hungUp.promise;
});

test('another reply is found by the message that it answers', async () => {
  const web = await service(
    (response) => void response.destroy(),
    refusal(409, 'idempotency_in_progress'),
    stream(START, text(3, 'The'), FINISH)
  );

  const call = regenerate('talk', { messageId: 'old', answeredId: 'question' }, { model: 'm' });
  expect(textOf(await read(web, call))).toBe('The');

  expect(web.asked.map(({ line }) => line)).toEqual([
    `POST ${MESSAGES}/old/regenerate`,
    `POST ${MESSAGES}/old/regenerate`,
    `GET ${MESSAGES}/question/stream`
  ]);
  const keys = web.asked.slice(0, 2).map(({ headers }) => headers['idempotency-key']);
  expect(keys[0]).toBe(keys[1]);
});
