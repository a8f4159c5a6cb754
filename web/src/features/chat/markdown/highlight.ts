import { sanitizedCode, type SafeHtml } from './safe_html.ts';

// Longer code would hold up the page for longer than a moment.
const LONGEST = 60_000;

/** Code with its parts marked by classes; null where the language is not known. */
export async function highlighted(code: string, language: string): Promise<SafeHtml | null> {
  if (code.length > LONGEST) return null;
  const { default: highlighter } = await import('highlight.js/lib/common');
  if (!highlighter.getLanguage(language)) return null;
  return sanitizedCode(highlighter.highlight(code, { language, ignoreIllegals: true }).value);
}
