import type { components } from '#api/schema.d.ts';
import type { Node } from './tree.ts';

type Schemas = components['schemas'];
export type Message = Schemas['Message'];

/**
 * A message of the thread. Its place changes once, when the service has given it an id; what it says is
 * replaced as a whole whenever it changes, so that nothing but this message is drawn again.
 */
export class Entry implements Node {
  id: string;
  parentId: string | null;
  /** The same for as long as it is shown, also before the service has given it an id. */
  readonly key: string;
  message = $state.raw<Message>()!;

  constructor(message: Message) {
    this.id = this.key = message.id;
    this.parentId = message.parent_id;
    this.message = message;
  }

  get isReply(): boolean {
    return this.message.role === 'assistant';
  }

  get isRunning(): boolean {
    return this.message.status === 'running';
  }

  change(changes: Partial<Message>): void {
    this.message = { ...this.message, ...changes };
  }
}

const UNSAID = {
  reasoning_effort: null,
  finish_reason: null,
  usage: null,
  error: null,
  context: null,
  feedback: null,
  attachments: [],
  ended_at: null,
  content: '',
  reasoning: null
};

/** What was said, as the service will have it. */
export function question(
  said: Pick<Message, 'id' | 'parent_id' | 'content' | 'author_id' | 'attachments'>
) {
  const created_at = new Date().toISOString();
  const message: Message = {
    ...UNSAID,
    role: 'user',
    model: null,
    status: 'completed',
    created_at,
    client_id: said.id,
    ...said
  };
  return new Entry(message);
}

/** A reply that has not begun, to the message of an id. */
export function awaited(reply: Pick<Message, 'parent_id' | 'model' | 'author_id'>) {
  const created_at = new Date().toISOString();
  const message: Message = {
    ...UNSAID,
    id: crypto.randomUUID(),
    role: 'assistant',
    status: 'running',
    created_at,
    client_id: null,
    ...reply
  };
  return new Entry(message);
}
