import type { Locale } from '#runtime';

/** What each language calls itself. */
export const LOCALE_NAMES: Record<Locale, string> = { en: 'English', de: 'Deutsch' };
