import { Marked, type Token, type Tokens, type TokensList } from 'marked';
import { m } from '#messages';
import { mathSyntax } from './math_syntax.ts';
import { sanitized, type SafeHtml } from './safe_html.ts';

/** A paragraph, list, table, or whatever else stands by itself. `raw` is its Markdown. */
export type Block =
  | { kind: 'html'; raw: string; html: SafeHtml }
  | { kind: 'code'; raw: string; language: string; code: string };

const marked = new Marked({ gfm: true, extensions: mathSyntax });
const usual = new Marked().Renderer.prototype;

marked.use({
  renderer: {
    // See `sanitized`: it is a link, to be followed by whoever wants to see it.
    image: ({ href, text }) =>
      `<a href="${attribute(href)}">${escaped(m.chat_picture({ name: text || href }))}</a>`,
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
    code: ({ text, lang }) =>
      `<pre data-language="${attribute(languageOf(lang))}"><code>${escaped(text)}</code></pre>`,
    table(token) {
      // It scrolls sideways, also by keys.
      return `<div data-table="" tabindex="0">${usual.table.call(this, token)}</div>`;
    }
  }
});

/**
 * A text in Markdown as blocks, of which those that cannot change any more are kept while it grows: what
 * one more word costs does not depend on how much there is.
 */
export class MarkdownText {
  #settled: Block[] = [];
  #prefix = '';
  #blocks: Block[] = [];

  /** The blocks of a text; `isWhole` when it will not grow. */
  blocks(text: string, isWhole: boolean): readonly Block[] {
    this.#blocks = isWhole ? this.#whole(text) : this.#growing(text);
    return this.#blocks;
  }

  #growing(text: string): Block[] {
    if (!text.startsWith(this.#prefix)) [this.#settled, this.#prefix] = [[], ''];
    const tokens = marked.lexer(text.slice(this.#prefix.length));
    const known = this.#blocks.slice(this.#settled.length);
    const found = visible(tokens);
    const blocks = found.map((token, at) => blockOf(token, known[at]));
    // The last two may still become another: a line below a paragraph makes it a heading.
    const open = found.at(-2);
    if (open && found.length > 2) {
      this.#settled = [...this.#settled, ...blocks.slice(0, -2)];
      const raws = tokens.slice(0, tokens.indexOf(open)).map(({ raw }) => raw);
      this.#prefix += raws.join('');
      return [...this.#settled, ...blocks.slice(-2)];
    }
    return [...this.#settled, ...blocks];
  }

  #whole(text: string): Block[] {
    const tokens = marked.lexer(text);
    // A link may be defined below the block that has it.
    const known = Object.keys(tokens.links).length ? [] : this.#blocks;
    return visible(tokens).map((token, at) => blockOf(token, known[at]));
  }
}

const visible = (tokens: TokensList) =>
  tokens.filter(({ type }) => type !== 'space' && type !== 'def');

function blockOf(token: Token, known: Block | undefined): Block {
  if (known?.raw === token.raw) return known;
  const { raw } = token;
  if (token.type === 'code') {
    const { text: code, lang } = token as Tokens.Code;
    return { kind: 'code', raw, language: languageOf(lang), code };
  }
  return { kind: 'html', raw, html: sanitized(marked.parser([token])) };
}

const languageOf = (info: string | undefined) =>
  /^[\w+#.-]+/.exec(info ?? '')?.[0].toLowerCase() ?? '';

const escaped = (text: string) =>
  text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
const attribute = (text: string) => escaped(text).replace(/"/g, '&quot;');
