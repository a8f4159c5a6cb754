// @vitest-environment jsdom
import { afterEach, expect, test } from 'vitest';
import { overwriteGetLocale } from '#runtime';
import { Draft } from '../state/draft.svelte.ts';
import type { Conversation } from '../state/conversation.svelte.ts';
import { Attaching, Attachments } from './attaching.svelte.ts';
import { Holding } from './holding.svelte.ts';

overwriteGetLocale(() => 'en');
afterEach(() => localStorage.clear());

class Talk {
  reading = $state.raw<Conversation['reading']>(null);
}

function composer() {
  const talk = new Talk();
  const attachments = new Attachments(new Draft('alice', 'talk'));
  return { talk, attachments, holding: new Holding(talk, attachments) };
}

const file = (name: string, text = 'blue') => new File([text], name);

test('a message waits for the reply that is written, and is told so until its end', () => {
  const { talk, holding } = composer();
  expect(holding.holds()).toBe(false);

  talk.reading = {} as Conversation['reading'];
  expect(holding.holds()).toBe(true);
  expect(holding.words).toContain('The reply is still being written.');

  talk.reading = null;
  expect(holding.words).toBe('');
  // Of another reply nothing is said before somebody asks again.
  talk.reading = {} as Conversation['reading'];
  expect(holding.words).toBe('');
});

test('a message waits for its files', () => {
  const { attachments, holding } = composer();
  attachments.onTheWay = [new Attaching(file('sea.txt'))];
  expect(holding.holds()).toBe(true);
  expect(holding.words).toContain('A file is still being uploaded.');

  attachments.onTheWay = [];
  expect(holding.words).toBe('');
  expect(holding.holds()).toBe(false);
});

test('a message does not go without a file that was refused before that is said', () => {
  const { attachments, holding } = composer();
  attachments.add([file('empty.txt', '')]);
  expect(holding.holds()).toBe(true);
  expect(holding.words).toContain('Not taken: empty.txt.');
  expect(holding.holds()).toBe(false);

  // Of each it is said.
  attachments.add([file('void.txt', '')]);
  expect(holding.holds()).toBe(true);
  expect(holding.words).toContain('empty.txt, void.txt');

  attachments.dropFailed();
  expect([holding.words, attachments.onTheWay]).toEqual(['', []]);
});

test('what would be refused again is not offered to be tried again', () => {
  const { attachments } = composer();
  attachments.add([file('empty.txt', '')]);
  expect(attachments.failed.map(({ isHopeless }) => isHopeless)).toEqual([true]);
});
