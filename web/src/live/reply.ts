import { Refusal, refusalOf } from '#api/refusal.ts';
import type { components } from '#api/schema.d.ts';
import { framesOf, type ReplyFrame } from './frames.ts';
import { pause, Silence } from './waiting.ts';

type Schemas = components['schemas'];
export type Message = Schemas['Message'];

/** What is asked for: a reply that is begun by a POST, or one that runs already. */
export interface ReplyCall {
  conversationId: string;
  /** Begins the reply, and is carried out once, however often it is sent under its `key`. */
  post?: { path: string; key: string; body: object };
  /** By what the reply is found while it runs: its id, or that of the message that it answers. */
  at: string;
  /** How much of a reply that runs is there already, in code points of its reasoning and text. */
  place?: number;
}

export type ReplyEvent =
  | ReplyFrame
  /** The reply as it is stored, in the place of all that has come. */
  | { type: 'stored'; message: Message }
  /** The connection broke, or has not come about; it is tried again by itself. */
  | { type: 'broken' }
  | { type: 'connected' };

type Fetch = (path: string, init: RequestInit) => Promise<Response>;

interface Reading {
  /** Null until the reply is known to have begun. */
  replyId: string | null;
  /** The message has arrived. */
  isSent: boolean;
  place: number;
  /** Less of it may be stored than has come. */
  isInterrupted: boolean;
  hasEnded: boolean;
}

/** A new message: `body.id` is its key, too. */
export function sendMessage(
  conversationId: string,
  body: Schemas['MessageInput'] & { id: string }
): ReplyCall {
  const post = { path: `/api/conversations/${conversationId}/messages`, key: body.id, body };
  return { conversationId, post, at: body.id };
}

/** Another reply to a message of the user, in the place of `messageId`: that message or a reply to it. */
export function regenerate(
  conversationId: string,
  { messageId, answeredId }: { messageId: string; answeredId: string },
  body: Schemas['ReplyInput']
): ReplyCall {
  const path = `/api/conversations/${conversationId}/messages/${messageId}/regenerate`;
  return { conversationId, post: { path, key: crypto.randomUUID(), body }, at: answeredId };
}

/** A reply that runs, from a place on. */
export function running(conversationId: string, replyId: string, place = 0): ReplyCall {
  return { conversationId, at: replyId, place };
}

/**
 * A reply, from its beginning to its end. Whatever breaks on the way, it is read to its end and sent
 * once. The last event is `finish` or `stored`. Raises a Refusal where the service refuses it. Where `signal`
 * is aborted it ends without a word, and the reply goes on.
 */
export async function* readReply(
  call: ReplyCall,
  fetch: Fetch,
  signal: AbortSignal
): AsyncGenerator<ReplyEvent> {
  const reading: Reading = {
    replyId: call.post ? null : call.at,
    isSent: !call.post,
    place: call.place ?? 0,
    isInterrupted: false,
    hasEnded: false
  };
  for (let failures = 0; !reading.hasEnded; failures++) {
    const { place } = reading;
    let wait: number | null = null;
    try {
      for await (const event of attempt(call, reading, fetch, signal)) yield event;
    } catch (error) {
      if (signal.aborted) return;
      if (!isPassing(error, reading)) throw error;
      wait = error instanceof Refusal ? error.retryAfter : null;
    }
    if (reading.hasEnded || signal.aborted) return;
    if (reading.place > place) failures = 0;
    yield { type: 'broken' };
    await pause(failures, wait, signal);
  }
}

/** Whether an error is one of the way: the network's, that of a proxy, or of a server that is full. */
function isPassing(error: unknown, { isSent }: Reading): boolean {
  if (error instanceof TypeError || error instanceof Silence) return true;
  if (!(error instanceof Refusal)) return false;
  if (error.isUnreachable || error.code.startsWith('http_5')) return true;
  // Nothing but the way to the reply was refused: it runs.
  return isSent && (error.status === 429 || error.status >= 500);
}

async function* attempt(
  call: ReplyCall,
  reading: Reading,
  fetch: Fetch,
  outer: AbortSignal
): AsyncGenerator<ReplyEvent> {
  const silence = new Silence(outer);
  try {
    const asked = (path: string, init: RequestInit = {}) =>
      fetch(path, { ...init, signal: silence.signal });
    const response = await opened(call, reading, asked);
    yield { type: 'connected' };
    if (response.status === 204) return yield* stored(call, reading, asked);
    if (!response.ok) throw await refusalOf(response);
    for await (const lot of framesOf(response.body!, silence.signal)) {
      silence.isBroken();
      for (const { place, frame } of lot) {
        take(reading, place, frame);
        yield frame;
      }
    }
    if (reading.isInterrupted) yield* stored(call, reading, asked);
  } finally {
    silence.end();
  }
}

type Asked = (path: string, init?: RequestInit) => Promise<Response>;

/** The reply from where it is not yet known: from its beginning, which sends the message. */
async function opened(call: ReplyCall, reading: Reading, asked: Asked): Promise<Response> {
  const { post, conversationId } = call;
  if (reading.replyId !== null || !post) {
    const path = `/api/conversations/${conversationId}/messages/${reading.replyId}/stream`;
    return asked(path, reading.place ? { headers: { 'Last-Event-ID': `${reading.place}` } } : {});
  }
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': post.key };
  const sent = await asked(post.path, {
    method: 'POST',
    headers,
    body: JSON.stringify(post.body)
  });
  if (sent.status !== 409) return sent;
  const refusal = await refusalOf(sent);
  if (refusal.code !== 'idempotency_in_progress') throw refusal;
  // It had arrived before the connection broke.
  reading.isSent = true;
  const found = await asked(`/api/conversations/${conversationId}/messages/${call.at}/stream`);
  // It is not stored yet: nothing runs.
  return found.status === 404 ? new Response(null, { status: 204 }) : found;
}

/** The reply that has ended while nobody was looking: it is in the conversation. */
async function* stored(
  { conversationId }: ReplyCall,
  reading: Reading,
  asked: Asked
): AsyncGenerator<ReplyEvent> {
  // Sent again, it is answered with what it has brought.
  if (reading.replyId === null) return;
  const path = `/api/conversations/${conversationId}/messages/${reading.replyId}`;
  const response = await asked(path);
  if (!response.ok) throw await refusalOf(response);
  const message = (await response.json()) as Message;
  // Its server died, and that has not been noticed yet.
  if (message.status === 'running') return;
  reading.hasEnded = true;
  yield { type: 'stored', message };
}

function take(reading: Reading, place: number, frame: ReplyFrame): void {
  reading.place = place;
  if (frame.type === 'start') [reading.replyId, reading.isSent] = [frame.messageId, true];
  if (frame.type === 'error' && frame.code === 'interrupted') reading.isInterrupted = true;
  if (frame.type === 'finish') reading.hasEnded = !reading.isInterrupted;
}
