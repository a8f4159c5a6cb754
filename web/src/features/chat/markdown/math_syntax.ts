import type { TokenizerAndRendererExtension } from 'marked';

// `$$…$$`, `\[…\]` on lines of their own; `$…$`, `\(…\)` within text.
const BLOCK = /^(?:\$\$([^$]+?)\$\$|\\\[([\s\S]+?)\\\])[ \t]*(?:\n+|$)/;
const INLINE =
  /^(?:\$\$([^$\n]+?)\$\$|\\\(([\s\S]+?)\\\)|\$(?![\s$])((?:\\.|[^\\$\n])+?)(?<!\s)\$(?!\d))/;
const OPERATOR = /[\\^_={}+*/<>]/;

/** Formulas, between the signs that models put them between. */
export const mathSyntax: TokenizerAndRendererExtension[] = [
  {
    name: 'mathBlock',
    level: 'block',
    start: (source) => source.match(/(?:^|\n)(?:\$\$|\\\[)/)?.index,
    tokenizer(source) {
      const [raw, ...texts] = BLOCK.exec(source) ?? [];
      if (raw === undefined) return undefined;
      return { type: 'mathBlock', raw, text: (texts.find(Boolean) ?? '').trim() };
    },
    renderer: ({ text }) => `<div data-math="block">${escaped(text as string)}</div>`
  },
  {
    name: 'mathInline',
    level: 'inline',
    start: (source) => source.match(/\$|\\\(/)?.index,
    tokenizer(source) {
      const [raw, , , betweenDollars] = INLINE.exec(source) ?? [];
      if (raw === undefined || (betweenDollars && isMoney(betweenDollars))) return undefined;
      const text = raw.replace(/^(?:\$\$|\\\(|\$)|(?:\$\$|\\\)|\$)$/g, '');
      return { type: 'mathInline', raw, text: text.trim() };
    },
    renderer: ({ text }) => `<span data-math="inline">${escaped(text as string)}</span>`
  }
];

/** "It costs $5 (or 10$)." */
function isMoney(text: string): boolean {
  return /^\d/.test(text) && /\s/.test(text) && !OPERATOR.test(text);
}

const escaped = (text: string) =>
  text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
