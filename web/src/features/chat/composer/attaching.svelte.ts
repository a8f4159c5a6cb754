import { api } from '#api/client.ts';
import { Refusal } from '#api/refusal.ts';
import { m } from '#messages';
import type { Draft } from '../state/draft.svelte.ts';
import { uploadFile } from './upload_file.ts';

export const MOST_FILES = 10;
export const LARGEST_BYTES = 25_000_000;
/** With these statuses it is the file itself that is refused. */
const HOPELESS = [400, 413, 415, 422];

/** A file that is being uploaded, or could not be. */
export class Attaching {
  /** The part that has been sent, from 0 to 1. */
  progress = $state(0);
  problem = $state<string | null>(null);
  /** It would be refused again. */
  isHopeless = $state(false);
  readonly file: File;
  readonly abort = new AbortController();

  constructor(file: File) {
    this.file = file;
  }
}

/** The files that are to go with a draft: those that are there, and those that are on their way. */
export class Attachments {
  onTheWay = $state.raw<Attaching[]>([]);
  /** Why files were not taken at all. */
  problem = $state<string | null>(null);
  readonly #draft: Draft;

  constructor(draft: Draft) {
    this.#draft = draft;
  }

  /** Those that are being uploaded. */
  get uploading(): Attaching[] {
    return this.onTheWay.filter(({ problem }) => problem === null);
  }

  /** Those that could not be. */
  get failed(): Attaching[] {
    return this.onTheWay.filter(({ problem }) => problem !== null);
  }

  get isBusy(): boolean {
    return this.uploading.length > 0;
  }

  /** Whether a picture is among them. */
  get hasPictures(): boolean {
    return this.#draft.uploads.some(({ mime }) => mime.startsWith('image/'));
  }

  add(files: Iterable<File>): void {
    this.problem = null;
    const places = MOST_FILES - this.#draft.uploads.length - this.onTheWay.length;
    const all = [...files];
    if (all.length > places) this.problem = m.chat_too_many_files({ count: MOST_FILES });
    for (const file of all.slice(0, Math.max(0, places))) {
      const attaching = new Attaching(file);
      this.onTheWay = [...this.onTheWay, attaching];
      void this.upload(attaching);
    }
  }

  /** Adds a text as a file. */
  addText(text: string): void {
    this.add([new File([text], m.chat_pasted_name(), { type: 'text/plain' })]);
  }

  /** Uploads a file, or does so once more. */
  async upload(attaching: Attaching): Promise<void> {
    const { file, abort } = attaching;
    Object.assign(attaching, { problem: null, progress: 0 });
    if (file.size === 0 || file.size > LARGEST_BYTES) {
      attaching.problem = file.size ? m.chat_file_too_large() : m.chat_file_empty();
      attaching.isHopeless = true;
      return;
    }
    try {
      const told = (part: number) => (attaching.progress = part);
      const upload = await uploadFile(file, told, abort.signal);
      this.#drop(attaching);
      this.#draft.uploads = [...this.#draft.uploads, upload];
      this.#draft.keep();
    } catch (error) {
      if (abort.signal.aborted) return;
      if (!(error instanceof Refusal)) throw error;
      attaching.problem = error.isUnreachable ? m.unreachable() : error.message;
      attaching.isHopeless = HOPELESS.includes(error.status);
    }
  }

  /** Takes those away that could not be uploaded. */
  dropFailed(): void {
    this.onTheWay = this.uploading;
    this.problem = null;
  }

  /** Takes a file away that is not there yet. */
  cancel(attaching: Attaching): void {
    attaching.abort.abort();
    this.#drop(attaching);
    this.problem = null;
  }

  /** Takes a file away, here and at the service. */
  remove(id: string): void {
    this.#draft.uploads = this.#draft.uploads.filter((upload) => upload.id !== id);
    this.#draft.keep();
    this.problem = null;
    const params = { path: { upload_id: id } };
    // What cannot be deleted now is deleted by the service within a day.
    void api.DELETE('/api/uploads/{upload_id}', { params }).catch(() => {});
  }

  #drop(attaching: Attaching): void {
    this.onTheWay = this.onTheWay.filter((other) => other !== attaching);
  }
}
