import type { components } from '#api/events.d.ts';

type Schemas = components['schemas'];
type Frame<Type extends string, Data> = { type: Type } & Data;

/** What the stream of a reply brings; see docs/api/chat.md. Other types are passed over. */
export type ReplyFrame =
  | Frame<'start', Schemas['FrameStartData']>
  | Frame<'reasoning-delta', Schemas['FrameReasoningDeltaData']>
  | Frame<'text-delta', Schemas['FrameTextDeltaData']>
  | Frame<'data-title', Schemas['FrameDataTitleData']>
  | Frame<'error', Schemas['FrameErrorData']>
  | Frame<'finish', Schemas['FrameFinishData']>;

export interface PlacedFrame {
  /** How much of the reply has come with it: what to ask for the rest by. */
  place: number;
  frame: ReplyFrame;
}

/**
 * The frames of a stream of server-sent events, in the lots in which they arrive; an empty lot is a sign
 * of life. Raises a TypeError where the connection breaks, and the reason of `signal` where that ends it.
 */
export async function* framesOf(
  body: ReadableStream<BufferSource>,
  signal: AbortSignal
): AsyncGenerator<PlacedFrame[]> {
  const reader = body.pipeThrough(new TextDecoderStream(), { signal }).getReader();
  try {
    for (let rest = ''; ;) {
      const { done, value } = await reader.read();
      if (done) return;
      const events = (rest + value).split('\n\n');
      rest = events.pop()!; // not yet whole
      yield events.flatMap(parsed);
    }
  } finally {
    // Whoever stops listening hangs up.
    reader.cancel().catch(() => {});
  }
}

function parsed(event: string): PlacedFrame[] {
  const [, place, data] = /^id: (\d+)\ndata: (.*)$/s.exec(event) ?? [];
  if (data === undefined || data === '[DONE]') return [];
  return [{ place: Number(place), frame: JSON.parse(data) as ReplyFrame }];
}
