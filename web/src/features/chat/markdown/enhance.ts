import { mount, unmount } from 'svelte';
import CodeBlock from './CodeBlock.svelte';

type Katex = typeof import('katex');
let katex: Katex | null = null;

/**
 * Draws formulas, and code that is inside of lists and the like, in the context of the component. Undone by
 * the returned function.
 */
export function enhance(block: HTMLElement, context: Map<unknown, unknown>): () => void {
  const formulas = [...block.querySelectorAll<HTMLElement>('[data-math]')];
  if (formulas.length) void drawFormulas(formulas);
  const codes = [...block.querySelectorAll('pre')].map((pre) => {
    const props = { language: pre.dataset.language ?? '', code: pre.textContent };
    const place = document.createElement('div');
    pre.replaceWith(place);
    return mount(CodeBlock, { target: place, props, context });
  });
  return () => codes.forEach((code) => void unmount(code));
}

async function drawFormulas(formulas: HTMLElement[]): Promise<void> {
  // Without waiting where it is there: while a text grows, its formulas would flicker.
  if (!katex) {
    const [library] = await Promise.all([import('katex'), import('katex/dist/katex.min.css')]);
    katex = library;
  }
  for (const formula of formulas) {
    const displayMode = formula.dataset.math === 'block';
    const limits = { maxSize: 20, maxExpand: 500, throwOnError: false, trust: false };
    katex.default.render(formula.textContent, formula, { displayMode, ...limits });
  }
}
