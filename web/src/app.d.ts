declare global {
  namespace App {
    interface Error {
      /** What to quote when asking for help. */
      requestId?: string | null;
      /** There was no answer at all. */
      isUnreachable?: boolean;
    }
  }

  /** https://developer.mozilla.org/en-US/docs/Web/API/CloseWatcher; not all browsers have it. */
  class CloseWatcher {
    onclose: (() => void) | null;
    destroy(): void;
  }
}

export {};
