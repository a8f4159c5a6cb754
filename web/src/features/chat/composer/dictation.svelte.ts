import { authorizedFetch } from '#api/client.ts';
import { Refusal, refusalOf } from '#api/refusal.ts';
import type { components } from '#api/schema.d.ts';
import { m } from '#messages';
import { wordsOf } from '../refusals.ts';

type Transcript = components['schemas']['Transcript'];

/** What somebody says, as text. */
export class Dictation {
  state = $state<'asking' | 'recording' | 'transcribing' | 'ended'>('asking');
  seconds = $state(0);
  problem = $state<string | null>(null);
  /** A recording that could not be written down; it can be tried again. */
  recording = $state.raw<Blob | null>(null);
  readonly #write: (text: string) => void;
  readonly #key = crypto.randomUUID();
  #recorder: MediaRecorder | null = null;
  #timer: ReturnType<typeof setInterval> | undefined;
  #isWanted = true;

  /** `write` is given what was said. */
  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  async start(): Promise<void> {
    let stream: MediaStream;
    try {
      stream = await navigator.mediaDevices.getUserMedia({ audio: true });
    } catch {
      [this.state, this.problem] = ['ended', m.chat_no_microphone()];
      return;
    }
    const parts: Blob[] = [];
    this.#recorder = new MediaRecorder(stream);
    this.#recorder.ondataavailable = ({ data }) => parts.push(data);
    this.#recorder.onstop = () => {
      for (const track of stream.getTracks()) track.stop();
      clearInterval(this.#timer);
      if (this.#isWanted) void this.transcribe(new Blob(parts, { type: parts[0]?.type }));
    };
    this.#recorder.start();
    // It was given up while the browser asked.
    if (!this.#isWanted) this.#recorder.stop();
    this.state = 'recording';
    this.#timer = setInterval(() => this.seconds++, 1000);
  }

  /** Ends the recording, and has it written down. */
  finish(): void {
    if (this.#recorder?.state === 'recording') this.#recorder.stop();
  }

  /** Ends the recording, and forgets it. */
  cancel(): void {
    this.#isWanted = false;
    this.finish();
  }

  /** Has a recording written down. */
  async transcribe(audio: Blob): Promise<void> {
    [this.state, this.problem, this.recording] = ['transcribing', null, null];
    try {
      const { text } = await transcribed(audio, this.#key);
      if (text.trim()) this.#write(text.trim());
      else this.problem = m.chat_nothing_heard();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { text, facts } = wordsOf({ refusal: error, model: null, again: null });
      this.problem = [text, ...facts].join(' ');
      this.recording = audio;
    } finally {
      this.state = 'ended';
    }
  }
}

async function transcribed(audio: Blob, key: string): Promise<Transcript> {
  const form = new FormData();
  const ending = ['mp4', 'ogg'].find((type) => audio.type.includes(type)) ?? 'webm';
  form.append('file', audio, `speech.${ending}`);
  const init = { method: 'POST', headers: { 'Idempotency-Key': key }, body: form };
  const response = await authorizedFetch('/api/transcribe', init);
  if (!response.ok) throw await refusalOf(response);
  return (await response.json()) as Transcript;
}
