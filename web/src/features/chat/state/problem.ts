import { m } from '#messages';
import type { Refusal } from '#api/refusal.ts';

/** Why something was not done, and how it is tried again, by another model if one is named. */
export interface Problem {
  refusal: Refusal;
  model: string | null;
  again: ((model?: string) => void) | null;
  /** The beginning of the message that was to be answered again, where that is what was not done. */
  answered: string | null;
}

/** With these statuses the session has ended, or the message may be there already. */
const OPEN = [401, 403, 409];

/** Is it certain that nothing comes of it? What broke on its way may have arrived. */
export function isFinal(problem: Problem | null): boolean {
  const status = problem?.refusal.status ?? 0;
  return status >= 400 && status < 500 && !OPEN.includes(status);
}

/** The first words of a message, of one without any what it is made of. */
export const beginningOf = (text: string): string =>
  text.trim().split('\n', 1)[0]!.slice(0, 80) || m.chat_files();
