import { authorizedFetch } from '#api/client.ts';
import type { components } from '#api/events.d.ts';
import { readReply, type ReplyCall, type ReplyEvent } from '#live/reply.ts';
import type { Entry, Message } from './entry.svelte.ts';

type Start = components['schemas']['FrameStartData'];
type Finish = components['schemas']['FrameFinishData'];

export interface Listener {
  /** The service has stored the message, and writes the reply. */
  began(start: Start): void;
  titled(title: string): void;
}

/** One reply that is being read, into its entry. What comes within a frame of the screen is shown at once. */
export class Reading {
  readonly reply: Entry;
  /** The connection is away; it is sought again by itself. */
  isBroken = $state(false);
  /** The service has it. Before that it can be taken back. */
  hasBegun = $state(false);
  isStopping = $state(false);
  readonly #abort = new AbortController();
  #content = '';
  #reasoning = '';
  #frame: number | null = null;

  constructor(reply: Entry, hasBegun = false) {
    this.reply = reply;
    this.hasBegun = hasBegun;
  }

  /** Reads the reply to its end. False where it was left before that. Raises a Refusal. */
  async read(call: ReplyCall, listener: Listener): Promise<boolean> {
    try {
      for await (const event of readReply(call, authorizedFetch, this.#abort.signal)) {
        this.#take(event, listener);
      }
    } finally {
      this.#show();
    }
    return !this.#abort.signal.aborted;
  }

  /** Reads no more. The reply goes on without. */
  leave(): void {
    this.#abort.abort();
  }

  #take(event: ReplyEvent, listener: Listener): void {
    this.isBroken = event.type === 'broken';
    switch (event.type) {
      case 'text-delta':
        this.#content += event.delta;
        return this.#showSoon();
      case 'reasoning-delta':
        this.#reasoning += event.delta;
        return this.#showSoon();
      case 'start':
        this.#begin(event);
        return listener.began(event);
      case 'data-title':
        return listener.titled(event.data.title);
      case 'error':
        return this.reply.change({ error: { code: event.code, message: event.errorText } });
      case 'finish':
        this.#show();
        return this.reply.change(endOf(event));
      case 'stored':
        this.#drop();
        return this.reply.change(event.message);
    }
  }

  /** Also once more, where a reply that failed at no cost is written anew. */
  #begin({ messageMetadata: { model, context } }: Start): void {
    this.hasBegun = true;
    this.#drop();
    this.reply.change({ model, context, content: '', reasoning: null, error: null });
  }

  #showSoon(): void {
    // A tab that nobody sees draws no frames.
    if (document.hidden) this.#show();
    else this.#frame ??= requestAnimationFrame(() => this.#show());
  }

  #show(): void {
    const { content, reasoning } = this.reply.message;
    const [moreContent, moreReasoning] = [this.#content, this.#reasoning];
    this.#drop();
    if (!moreContent && !moreReasoning) return;
    this.reply.change({
      content: content + moreContent,
      reasoning: moreReasoning ? (reasoning ?? '') + moreReasoning : reasoning
    });
  }

  #drop(): void {
    if (this.#frame !== null) cancelAnimationFrame(this.#frame);
    [this.#frame, this.#content, this.#reasoning] = [null, '', ''];
  }
}

const REASONS: Partial<Record<Finish['finishReason'], Message['finish_reason']>> = {
  stop: 'stop',
  length: 'length',
  'content-filter': 'content_filter'
};

function endOf({ finishReason, usage, messageMetadata: { status } }: Finish): Partial<Message> {
  const ended_at = new Date().toISOString();
  return { status, usage, ended_at, finish_reason: REASONS[finishReason] ?? null };
}
