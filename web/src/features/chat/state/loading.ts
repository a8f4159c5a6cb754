import { answer, api } from '#api/client.ts';
import type { Message } from './entry.svelte.ts';

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

/** A reply that has ended, with what was paid for it; null where that does not become known. */
export async function paidFor(conversation_id: string, reply: Message): Promise<Message | null> {
  if (isPaid(reply)) return reply;
  for (const wait of WAITS_MS) {
    await new Promise((resolve) => setTimeout(resolve, wait));
    const params = { path: { conversation_id, message_id: reply.id } };
    const path = '/api/conversations/{conversation_id}/messages/{message_id}';
    const { data } = await api.GET(path, { params }).catch(() => ({ data: undefined }));
    if (data && isPaid(data)) return data;
  }
  return null;
}

function isPaid({ usage, status }: Message): boolean {
  // One that failed without a word costs nothing.
  if (usage === null) return status === 'failed';
  return usage.paid_by_plan_usd !== null && usage.paid_by_balance_usd !== null;
}
