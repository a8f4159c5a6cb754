/**
 * A rule of ESLint: words that people read are messages (`messages/`), not text in a component.
 *
 * It looks at text between tags, at attributes that are read out or shown, and at strings in braces
 * in both places.
 */
import type { Rule } from 'eslint';
import type { AST } from 'svelte-eslint-parser';

const SHOWN =
  /^(alt|description|detail|heading|hint|label|placeholder|text|title|aria-(label|description|placeholder|roledescription|valuetext))$/;
const WORDS = /\p{L}/u;

/** The strings that an expression may become. */
function strings(node: AST.SvelteMustacheTag['expression']): string[] {
  switch (node.type) {
    case 'Literal':
      return typeof node.value === 'string' ? [node.value] : [];
    case 'TemplateLiteral':
      return node.quasis.map((part) => part.value.raw);
    case 'ConditionalExpression':
      return [...strings(node.consequent), ...strings(node.alternate)];
    case 'LogicalExpression':
      return [...strings(node.left), ...strings(node.right)];
    default:
      return [];
  }
}

export const literalText: Rule.RuleModule = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { words: 'Make a message of {{words}}, in messages/.' }
  },
  create(context) {
    const report = (node: AST.SvelteNode, texts: string[]) => {
      const words = texts.find((text) => WORDS.test(text));
      if (words) {
        context.report({
          loc: node.loc,
          messageId: 'words',
          data: { words: JSON.stringify(words.trim()) }
        });
      }
    };
    const listeners = {
      SvelteText(node: AST.SvelteText) {
        if (node.parent.type !== 'SvelteStyleElement') report(node, [node.value]);
      },
      SvelteMustacheTag(node: AST.SvelteMustacheTag) {
        if (!node.parent.type.endsWith('Attribute') && !node.parent.type.endsWith('Directive')) {
          report(node, strings(node.expression));
        }
      },
      SvelteAttribute(node: AST.SvelteAttribute) {
        if (!SHOWN.test(node.key.name)) return;
        for (const value of node.value) {
          report(value, value.type === 'SvelteLiteral' ? [value.value] : strings(value.expression));
        }
      }
    };
    // The types of ESLint know no nodes of Svelte.
    return listeners as unknown as Rule.RuleListener;
  }
};
