import { answer, api } from '#api/client.ts';
import { Refusal } from '#api/refusal.ts';
import type { Row } from '#features/conversations/rows.ts';

const TYPING_MS = 150;
const LIMIT = 8;

/** The conversations that what is typed finds, on the service. */
export class ConversationSearch {
  found = $state.raw<Row[]>([]);
  isUnderWay = $state(false);
  refusal = $state.raw<Refusal | null>(null);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked = '';

  search(query: string): void {
    const words = query.trim();
    if (words === this.#asked) return;
    this.#asked = words;
    this.refusal = null;
    this.isUnderWay = words !== '';
    clearTimeout(this.#timer);
    if (words) this.#timer = setTimeout(() => void this.#search(words), TYPING_MS);
    else this.found = [];
  }

  async #search(words: string): Promise<void> {
    try {
      const params = { query: { q: words, limit: LIMIT } };
      const found = await answer(api.GET('/api/conversations', { params }));
      if (words === this.#asked) this.found = found;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (words === this.#asked) this.refusal = error;
    } finally {
      if (words === this.#asked) this.isUnderWay = false;
    }
  }
}
