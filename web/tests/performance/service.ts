import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';

const TYPES: Record<string, string> = {
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.html': 'text/html'
};
const ID = '01a22000-0000-7000-8000-000000000001';
const USER = {
  id: ID,
  email: 'alice@example.com',
  name: 'Alice',
  plan: 'max',
  email_verified: true
};
const PROSE = `The *moon* pulls the sea, **twice** a day, and what is drawn towards it comes back in the evening.

- one tide comes in the morning
- another one \`follows\` it

\`\`\`python
def tide(hours):
    return 2.0 * math.cos(hours / 12.4)
\`\`\`

It is never still, and nobody has seen it twice in the same place, as people say who live there.`;

interface Options {
  /** The folder of the build. */
  build: string;
  /** How many messages the conversation has. */
  messages: number;
  /** What the next reply says, word by word. */
  words: string[];
  /** Between two words. */
  pauseMs: number;
}

/**
 * A stand-in for the service, with one long conversation: what is measured is the page alone. Everything
 * that a chat asks for is there; what is missing is answered with a 404.
 */
export async function startService(options: Options) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url!, 'http://service');
    if (pathname.startsWith('/api/')) answer(pathname, request, response, options);
    else sendFile(pathname, response, options.build);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    address: `${origin}/chat/${ID}`,
    close() {
      server.closeAllConnections();
      server.close();
    }
  };
}

function sendFile(pathname: string, response: ServerResponse, build: string): void {
  const wanted = join(build, pathname);
  const isFile = existsSync(wanted) && statSync(wanted).isFile();
  const file = isFile ? wanted : join(build, 'index.html');
  response.writeHead(200, {
    'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream',
    // As the service has it.
    'Cache-Control': pathname.includes('/immutable/') ? 'max-age=31536000, immutable' : 'no-cache'
  });
  response.end(readFileSync(file));
}

function answer(
  pathname: string,
  { method }: IncomingMessage,
  response: ServerResponse,
  options: Options
): void {
  const json = (body: unknown, status = 200) => {
    response.writeHead(status, { 'Content-Type': 'application/json', 'X-Next-Seq': '0' });
    response.end(JSON.stringify(body));
  };
  const path = `${method} ${pathname}`;
  if (path === 'POST /api/auth/refresh') {
    json({ access_token: 'token', refresh_token: null, expires_in: 3600, user: USER });
  } else if (path === 'GET /api/models') json([MODEL]);
  else if (path === 'GET /api/conversations') json([]);
  else if (path === `GET /api/conversations/${ID}`) json(conversation(options.messages));
  else if (path === `POST /api/conversations/${ID}/messages`) void stream(response, options);
  else json({ detail: 'There is nothing.', code: 'not_found' }, 404);
}

const MODEL = {
  id: 'gpt-6-luna',
  display_name: 'GPT-6 Luna',
  owned_by: 'openai',
  modality: 'chat',
  aliases: [],
  takes: ['text'],
  reasoning_efforts: [],
  context_window: 1_000_000,
  prices: { input_per_1m_usd: 1, output_per_1m_usd: 1 },
  callable: true,
  included_in_plan: true,
  allowance_usd: 5,
  remaining_usd: 5,
  free: null,
  default: true,
  preferences: { enabled: true, favourite: false, reasoning_effort: null, has_instructions: false }
};

const USAGE = {
  input_tokens: 10,
  output_tokens: 10,
  reasoning_tokens: 0,
  cached_tokens: 0,
  total_tokens: 20,
  listed_usd: 0.01,
  paid_by_plan_usd: 0.01,
  paid_by_balance_usd: 0
};

const idOf = (at: number) => `01a22000-0000-7000-8000-${String(at + 100).padStart(12, '0')}`;

function conversation(count: number) {
  const created_at = new Date(0).toISOString();
  const messages = Array.from({ length: count }, (_, at) => {
    const isReply = at % 2 === 1;
    return {
      id: idOf(at),
      parent_id: at ? idOf(at - 1) : null,
      role: isReply ? 'assistant' : 'user',
      model: isReply ? MODEL.id : null,
      content: isReply ? PROSE : `Question ${at}: why is that so?`,
      status: 'completed',
      finish_reason: isReply ? 'stop' : null,
      usage: isReply ? USAGE : null,
      attachments: [],
      reasoning: null,
      reasoning_effort: null,
      client_id: null,
      author_id: ID,
      error: null,
      context: null,
      feedback: null,
      created_at,
      ended_at: created_at
    };
  });
  const row = {
    id: ID,
    title: 'Tides',
    model: null,
    space_id: null,
    running_message_id: null,
    pinned: false
  };
  const access = { access: 'owner', created_at, updated_at: created_at, system: '' };
  return { ...row, ...access, active_leaf_id: count ? idOf(count - 1) : null, messages };
}

async function stream(
  response: ServerResponse,
  { words, pauseMs, messages }: Options
): Promise<void> {
  let place = 0;
  const send = (frame: object) =>
    response.write(`id: ${place}\ndata: ${JSON.stringify(frame)}\n\n`);
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  const metadata = {
    conversation_id: ID,
    user_message_id: idOf(messages),
    model: MODEL.id,
    context: null
  };
  send({ type: 'start', messageId: idOf(messages + 1), messageMetadata: metadata });
  for (const word of words) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    const delta = `${word} `;
    place += delta.length;
    send({ type: 'text-delta', id: '1', delta });
  }
  send({
    type: 'finish',
    finishReason: 'stop',
    usage: USAGE,
    messageMetadata: { status: 'completed', usage: USAGE }
  });
  response.end('data: [DONE]\n\n');
}

/** As many words as are wanted of prose with lists and code. */
export function prose(count: number): string[] {
  const words = PROSE.split(' ');
  return Array.from(
    { length: count },
    (_, at) => words[at % words.length]! + (at % 60 === 59 ? '\n\n' : '')
  );
}
