import { answer, api } from '#api/client.ts';
import type { components } from '#api/schema.d.ts';
import type { Message } from './entry.svelte.ts';

export type Rating = components['schemas']['Rating'];

/** Of a message, by the ids of its conversation and its own. */
interface Place {
  conversation_id: string;
  message_id: string;
}

const MESSAGE = '/api/conversations/{conversation_id}/messages/{message_id}';

const PAGE = 100;
// When a reply's payment is looked for: it is known a moment after its end, or, of one that was stopped,
// when its call has ended as well.
const WAITS_MS = [1500, 4000, 12_000, 40_000];

/** The messages of all branches that are newer than one, the oldest first. Raises a Refusal. */
export async function newerMessages(
  conversation_id: string,
  newest: string | null
): Promise<Message[]> {
  const found: Message[] = [];
  for (;;) {
    const after = found.at(-1)?.id ?? newest ?? undefined;
    const params = { path: { conversation_id }, query: { after, limit: PAGE } };
    const path = '/api/conversations/{conversation_id}/messages';
    const page = await answer(api.GET(path, { params }));
    found.push(...page.reverse());
    if (page.length < PAGE) return found;
  }
}

/** A reply that has ended, with what was paid for it; null where that does not become known
 * before `signal` says that nobody looks any more. */
export async function paidFor(
  conversation_id: string,
  reply: Message,
  signal: AbortSignal
): Promise<Message | null> {
  if (isPaid(reply)) return reply;
  for (const wait of WAITS_MS) {
    await new Promise((resolve) => setTimeout(resolve, wait));
    if (signal.aborted) return null;
    const place = { conversation_id, message_id: reply.id };
    const message = await readMessage(place).catch(() => null);
    if (message && isPaid(message)) return message;
  }
  return null;
}

function isPaid({ usage, status }: Message): boolean {
  // One that failed without a word costs nothing.
  if (usage === null) return status === 'failed';
  return usage.paid_by_plan_usd !== null && usage.paid_by_balance_usd !== null;
}

// All of these raise a Refusal.

export const readMessage = (path: Place): Promise<Message> =>
  answer(api.GET(MESSAGE, { params: { path } }));

export const deleteMessage = (path: Place) => answer(api.DELETE(MESSAGE, { params: { path } }));

export const stopReply = (path: Place) => answer(api.POST(`${MESSAGE}/stop`, { params: { path } }));

/** Tells operators what the user thinks of a reply; null takes that back. */
export function rateReply(path: Place, rating: Rating | null, comment?: string): Promise<unknown> {
  if (rating === null) return answer(api.DELETE(`${MESSAGE}/feedback`, { params: { path } }));
  return answer(api.PUT(`${MESSAGE}/feedback`, { params: { path }, body: { rating, comment } }));
}

/** Begins a conversation, in a space if one is named. */
export const beginConversation = (model: string | null, space_id: string | null) =>
  answer(api.POST('/api/conversations', { body: { model, space_id } }));

/** Deletes a conversation for good. */
export const deleteConversation = (conversation_id: string) =>
  answer(
    api.DELETE('/api/conversations/{conversation_id}', { params: { path: { conversation_id } } })
  );

/** Makes a branch the one that is shown. */
export const showBranch = (conversation_id: string, active_leaf_id: string) =>
  answer(
    api.PATCH('/api/conversations/{conversation_id}', {
      params: { path: { conversation_id } },
      body: { active_leaf_id }
    })
  );
