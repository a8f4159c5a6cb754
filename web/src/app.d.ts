declare global {
  namespace App {
    interface Error {
      /** What to quote when asking for help. */
      requestId?: string | null;
      /** There was no answer at all. */
      isUnreachable?: boolean;
    }
  }
}

export {};
