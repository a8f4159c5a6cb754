import { folded, wordsOf } from '#ui/words.ts';

export interface Part {
  text: string;
  isMatch: boolean;
}

// Of what is before a match, so many characters are shown.
const MOST_BEFORE = 24;

/**
 * A text in parts, of which those match that begin a word with one of the query's words. Case and accents
 * do not count, as in the search of the service.
 */
export function marked(text: string, query: string): Part[] {
  const words = wordsOf(query);
  const parts: Part[] = [];
  for (const piece of text.split(/([\p{L}\p{M}\p{N}]+)/u)) {
    if (!piece) continue;
    const length = longestBeginning(piece, words);
    if (length) parts.push({ text: piece.slice(0, length), isMatch: true });
    const rest = piece.slice(length);
    const last = parts.at(-1);
    if (!rest) continue;
    if (last && !last.isMatch) last.text += rest;
    else parts.push({ text: rest, isMatch: false });
  }
  return parts;
}

/**
 * The parts from shortly before the first that matches: a row has room for a few words. Where nothing matches
 * they stay as they are.
 */
export function excerpt(parts: Part[]): Part[] {
  const [before, ...rest] = parts;
  if (!before || before.isMatch || !rest.length || before.text.length <= MOST_BEFORE) return parts;
  const near = before.text.slice(-MOST_BEFORE);
  // A word that is cut is left out, unless there is no other.
  return [{ text: `…${near.replace(/^\S*\s+(?=\S)/u, '')}`, isMatch: false }, ...rest];
}

/** How many units of the word are the longest of the words that it begins with; 0 for none. */
function longestBeginning(word: string, words: string[]): number {
  const begun = words.filter((each) => folded(word).startsWith(each));
  const wanted = Math.max(0, ...begun.map(({ length }) => length));
  let length = 0;
  while (wanted && folded(word.slice(0, length)).length < wanted) length++;
  // Marks belong to the letter before them.
  while (/^\p{M}/u.test(word.slice(length))) length++;
  return wanted && length;
}
