import { Refusal } from '#api/refusal.ts';

/** What can be done about what a note says. */
export interface ToastAction {
  label: string;
  act: () => void;
}

export interface Toast {
  id: number;
  text: string;
  action: ToastAction | null;
  refusal: Refusal | null;
}

const SHOWN_MS = 6000;

/** Short notes about what was done, at the edge of the page. Refusals stay until they are closed. */
class Toasts {
  shown = $state.raw<Toast[]>([]);
  #next = 1;

  /** What is shown already is not said twice. */
  say(text: string, action: ToastAction | null = null): void {
    if (this.shown.some((toast) => toast.text === text)) return;
    const id = this.#add({ text, action, refusal: null });
    setTimeout(() => this.close(id), SHOWN_MS);
  }

  /** Shows why something was not done. Raises whatever is no refusal. */
  refuse(error: unknown): void {
    if (!(error instanceof Refusal)) throw error;
    this.#add({ text: '', action: null, refusal: error });
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
