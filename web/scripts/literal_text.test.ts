import { RuleTester } from 'eslint';
import * as parser from 'svelte-eslint-parser';
import { afterAll, describe, it } from 'vitest';
import { literalText } from './literal_text.ts';

Object.assign(RuleTester, { describe, it, afterAll });

const filename = 'a.svelte';
const tester = new RuleTester({ languageOptions: { parser } });

tester.run('literal text', literalText, {
  valid: [
    '<p>{m.hello()}</p>',
    '<p>{m.hello()} · {count} / 2 × €</p>',
    '<p>{isOpen ? m.open() : m.closed()}</p>',
    '<input type="text" name="email" class="wide" aria-label={m.email()} />',
    '<script>const word = "hello";</script>',
    '<style>p { color: red; }</style>',
    '<p class={wide ? "wide" : "narrow"} data-title="a"></p>',
    '<!-- a comment -->',
    '{#if kind === "open"}<p>{m.open()}</p>{/if}',
    '<Field label={m.email()} value="text" />'
  ].map((code) => ({ code, filename })),
  invalid: [
    '<p>Hello</p>',
    '<p>{"Hello"}</p>',
    '<p>{isOpen ? "Open" : m.closed()}</p>',
    '<p>{name || "Nobody"}</p>',
    '<p>{`${count} files`}</p>',
    '<button aria-label="Close">×</button>',
    '<img alt="A boat" src="boat.png" />',
    '<input placeholder={isOpen ? "Search" : ""} />',
    '<Field label="E-mail" />',
    '<p title="{count} files"></p>',
    '{#if isOpen}Open{/if}',
    '{#if isOpen}{"Open"}{:else}{m.closed()}{/if}',
    '{#each names as name}<li>Mr {name}</li>{/each}',
    '{#snippet label()}{"Label"}{/snippet}',
    '{"Hello"}',
    '{#await promise}Wait{/await}'
  ].map((code) => ({ code, filename, errors: 1 }))
});
