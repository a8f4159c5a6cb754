import { Refusal } from '#api/refusal.ts';

export interface Toast {
  id: number;
  text: string;
  refusal: Refusal | null;
}

const SHOWN_MS = 6000;

/** Short notes about what was done, at the edge of the page. Refusals stay until they are closed. */
class Toasts {
  shown = $state.raw<Toast[]>([]);
  #next = 1;

  /** What is shown already is not said twice. */
  say(text: string): void {
    if (this.shown.some((toast) => toast.text === text)) return;
    const id = this.#add({ text, refusal: null });
    setTimeout(() => this.close(id), SHOWN_MS);
  }

  /** Shows why something was not done. Raises whatever is no refusal. */
  refuse(error: unknown): void {
    if (!(error instanceof Refusal)) throw error;
    this.#add({ text: '', refusal: error });
  }

  close(id: number): void {
    this.shown = this.shown.filter((toast) => toast.id !== id);
  }

  #add(toast: Omit<Toast, 'id'>): number {
    const id = this.#next++;
    this.shown = [...this.shown.slice(-2), { id, ...toast }];
    return id;
  }
}

export const toasts = new Toasts();
