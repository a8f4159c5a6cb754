// @vitest-environment jsdom
import { expect, test, vi } from 'vitest';
import { MarkdownText, type Block } from './blocks.ts';

const htmlOf = (text: string) =>
  new MarkdownText()
    .blocks(text, true)
    .map((block) => (block.kind === 'html' ? block.html : `[${block.language}]${block.code}`))
    .join('');

/** What is shown at the end of a text that has grown by a character at a time. */
function grown(text: string): readonly Block[] {
  const markdown = new MarkdownText();
  for (let end = 1; end <= text.length; end++) markdown.blocks(text.slice(0, end), false);
  return markdown.blocks(text, true);
}

const LONG = `# Tides

The *moon* pulls.

- one
- two

  still two

1. first
2. second

| a | b |
|---|---|
| 1 | 2 |

\`\`\`python
print("tide")

print("ebb")
\`\`\`

> quoted
lazily

A heading
---------

$$
x^2
$$

The [end][1].

[1]: https://example.com
`;

test('a text that has grown is shown like one that comes at once', () => {
  const once = new MarkdownText().blocks(LONG, true);
  expect(grown(LONG)).toEqual(once);
});

test('blocks that are complete are not made again while the text grows', () => {
  const markdown = new MarkdownText();
  const before = markdown.blocks('One.\n\nTwo.\n\nThree.\n\nFo', false);
  const after = markdown.blocks('One.\n\nTwo.\n\nThree.\n\nFour.', false);
  expect(after[0]).toBe(before[0]);
  expect(after[1]).toBe(before[1]);
  const whole = markdown.blocks('One.\n\nTwo.\n\nThree.\n\nFour.', true);
  expect(whole[3]).toBe(after[3]);
});

test('of a long text that grows only the end is read', () => {
  const paragraphs = Array.from({ length: 2000 }, (_, at) => `Paragraph ${at} has *some* words.`);
  const text = paragraphs.join('\n\n');
  const markdown = new MarkdownText();
  const time = (act: () => void) => {
    const began = performance.now();
    act();
    return performance.now() - began;
  };
  const whole = time(() => markdown.blocks(text, false));
  const grown = time(() => {
    for (let more = 1; more <= 100; more++) markdown.blocks(text + ' more'.repeat(more), false);
  });
  // Side by side, as a busy machine slows down both.
  expect(grown / 100).toBeLessThan(whole / 4);
});

test('another text takes the place of the one before', () => {
  const markdown = new MarkdownText();
  markdown.blocks('One.\n\nTwo.\n\nThree.\n\nFour.', false);
  expect(markdown.blocks('Else.', false)).toHaveLength(1);
});

test('code keeps its text and its language', () => {
  expect(htmlOf('```TypeScript title="a.ts"\nif (a < b) {}\n```')).toBe(
    '[typescript]if (a < b) {}'
  );
  expect(htmlOf('- see\n  ```js\n  a && b\n  ```')).toContain(
    '<pre data-language="js"><code>a &amp;&amp; b</code></pre>'
  );
});

test('formulas are marked, amounts of money are not', () => {
  expect(htmlOf('So $x_1 < 2$ holds.')).toContain('<span data-math="inline">x_1 &lt; 2</span>');
  expect(htmlOf('So \\(x\\) holds.')).toContain('<span data-math="inline">x</span>');
  expect(htmlOf('\\[\nx\n\\]')).toBe('<div data-math="block">x</div>');
  for (const money of ['$5 and $10', 'from $5-$10', 'It costs $5 (or 10$).', '$ 5 $']) {
    expect(htmlOf(money)).not.toContain('data-math');
  }
});

test('a link opens elsewhere and tells nothing', () => {
  const html = htmlOf('[sea](https://example.com) <a href="https://b.example" target="_top">b</a>');
  expect(html.match(/target="_blank"/g)).toHaveLength(2);
  expect(html.match(/rel="noopener noreferrer nofollow"/g)).toHaveLength(2);
});

test.each([
  '[x](javascript:alert(1))',
  '<a href="javascript:alert(1)">x</a>',
  '<img src="https://stranger.example/x.png" onerror="alert(1)">',
  '![x](https://stranger.example/x.png)',
  '<script>alert(1)</script>',
  '<style>body { display: none }</style>',
  '<p style="position: fixed" onclick="alert(1)">x</p>',
  '<iframe src="https://stranger.example"></iframe>',
  '<form action="https://stranger.example"><input name="password"></form>',
  '<svg><use href="https://stranger.example#x"/></svg>',
  '<math><mtext></mtext></math>',
  '[x](data:text/html,x)'
])('nothing runs, sends or is loaded: %s', (text) => {
  const fetched = vi.spyOn(globalThis, 'fetch');
  const html = htmlOf(text);
  expect(html).not.toMatch(
    /<(?:img|script|style|iframe|form|input|svg|math)|javascript:|\son\w+=|style=|data:/
  );
  expect(fetched).not.toHaveBeenCalled();
});
