import { authorizedFetch } from '#api/client.ts';
import { Refusal, refusalOf } from '#api/refusal.ts';
import type { components } from '#api/schema.d.ts';
import { m } from '#messages';
import { wordsOf } from '../refusals.ts';

type Transcript = components['schemas']['Transcript'];

export const canDictate = 'MediaRecorder' in globalThis && Boolean(navigator.mediaDevices);

/** What somebody says, as text. */
export class Dictation {
  state = $state<'idle' | 'recording' | 'transcribing'>('idle');
  seconds = $state(0);
  problem = $state<string | null>(null);
  readonly #write: (text: string) => void;
  #recorder: MediaRecorder | null = null;
  #timer: ReturnType<typeof setInterval> | undefined;
  #isWanted = true;

  /** `write` is given what was said. */
  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  async start(): Promise<void> {
    this.problem = null;
    let stream: MediaStream;
    try {
      stream = await navigator.mediaDevices.getUserMedia({ audio: true });
    } catch {
      this.problem = m.chat_no_microphone();
      return;
    }
    const parts: Blob[] = [];
    this.#isWanted = true;
    this.#recorder = new MediaRecorder(stream);
    this.#recorder.ondataavailable = ({ data }) => parts.push(data);
    this.#recorder.onstop = () => {
      for (const track of stream.getTracks()) track.stop();
      clearInterval(this.#timer);
      void this.#recorded(new Blob(parts, { type: parts[0]?.type }));
    };
    this.#recorder.start();
    this.state = 'recording';
    this.seconds = 0;
    this.#timer = setInterval(() => this.seconds++, 1000);
  }

  /** Ends the recording, and has it written down. */
  finish(): void {
    this.#recorder?.stop();
  }

  /** Ends the recording, and forgets it. */
  cancel(): void {
    this.#isWanted = false;
    this.#recorder?.stop();
  }

  async #recorded(audio: Blob): Promise<void> {
    this.#recorder = null;
    this.state = 'idle';
    if (!this.#isWanted || audio.size === 0) return;
    this.state = 'transcribing';
    try {
      const { text } = await transcribed(audio);
      if (text.trim()) this.#write(text.trim());
      else this.problem = m.chat_nothing_heard();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { text, facts } = wordsOf({ refusal: error, model: null, again: null });
      this.problem = [text, ...facts].join(' ');
    } finally {
      this.state = 'idle';
    }
  }
}

async function transcribed(audio: Blob): Promise<Transcript> {
  const form = new FormData();
  const extension = audio.type.includes('mp4')
    ? 'm4a'
    : audio.type.includes('ogg')
      ? 'ogg'
      : 'webm';
  form.append('file', audio, `speech.${extension}`);
  const headers = { 'Idempotency-Key': crypto.randomUUID() };
  const response = await authorizedFetch('/api/transcribe', {
    method: 'POST',
    headers,
    body: form
  });
  if (!response.ok) throw await refusalOf(response);
  return (await response.json()) as Transcript;
}
