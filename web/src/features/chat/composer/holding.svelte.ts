import { m } from '#messages';
import type { Conversation } from '../state/conversation.svelte.ts';
import type { Attaching, Attachments } from './attaching.svelte.ts';

/** What has to come to its end before a message goes, and what has to be known. */
export class Holding {
  #why = $state.raw<() => string>(() => '');
  /** The files of which it has been said that they do not go with it. */
  #told = $state.raw<readonly Attaching[]>([]);
  /** Why the message did not go, as long as that is so. */
  readonly words = $derived(this.#why());
  readonly #conversation: Pick<Conversation, 'reading'>;
  readonly #attachments: Attachments;

  constructor(conversation: Pick<Conversation, 'reading'>, attachments: Attachments) {
    this.#conversation = conversation;
    this.#attachments = attachments;
  }

  /** Whether a message that is to be sent now is held back; `words` say why. */
  holds(): boolean {
    const { reading } = this.#conversation;
    const { uploading, failed } = this.#attachments;
    if (reading) {
      this.#why = () => (this.#conversation.reading === reading ? m.chat_wait() : '');
    } else if (uploading.length > 0) {
      this.#why = () => (isAny(uploading, this.#attachments.uploading) ? m.chat_wait_files() : '');
    } else if (failed.some((each) => !this.#told.includes(each))) {
      this.#told = failed;
      this.#why = () => this.#refused();
    } else return false;
    return true;
  }

  #refused(): string {
    const names = this.#attachments.failed.map(({ file }) => file.name);
    return names.length ? m.chat_files_refused({ names: names.join(', ') }) : '';
  }
}

const isAny = (some: readonly Attaching[], others: readonly Attaching[]) =>
  some.some((each) => others.includes(each));
