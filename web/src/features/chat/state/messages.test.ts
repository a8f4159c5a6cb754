import { beforeEach, expect, test } from 'vitest';
import { awaited, Entry, question, type Message } from './entry.svelte.ts';
import { Messages } from './messages.svelte.ts';

let messages: Messages;

const stored = (id: string, parent_id: string | null, role: Message['role'] = 'user') =>
  new Entry({ id, parent_id, role, status: 'completed', content: id } as Message);

const shown = () => messages.branch.map(({ id }) => id);

/** What somebody says, and the reply that is to come. */
function asked(parent_id: string | null, id = 'mine') {
  const author_id = 'alice';
  return [
    question({ id, parent_id, content: 'Why?', author_id, attachments: [] }),
    awaited({ parent_id: id, model: 'gpt-6-luna', author_id })
  ] as const;
}

beforeEach(() => {
  messages = new Messages();
  const [why, because] = [stored('why', null), stored('because', 'why', 'assistant')];
  messages.open([why, because], 'because');
});

test('what is asked is shown at once, and keeps its place when it is given its ids', () => {
  const [mine, reply] = asked('because');
  messages.add([mine, reply]);
  const keys = messages.branch.map(({ key }) => key);
  expect(shown()).toEqual(['why', 'because', 'mine', reply.id]);

  messages.place(mine, 'question');
  messages.place(reply, 'reply', 'question');

  expect(shown()).toEqual(['why', 'because', 'question', 'reply']);
  expect(messages.branch.map(({ key }) => key)).toEqual(keys);
  expect(reply.message).toMatchObject({ id: 'reply', parent_id: 'question' });
  expect(messages.clientIds).toContain('mine');
});

test('what was refused is taken back, and the branch of before is shown', () => {
  const edited = asked(null);
  messages.add(edited);
  expect(shown()).toHaveLength(2);
  messages.takeBack(edited, 'because');
  expect(shown()).toEqual(['why', 'because']);
  expect(messages.all).toHaveLength(2);
});

test('a message that was loaded meanwhile is there once', () => {
  const [mine, reply] = asked('because');
  messages.add([mine, reply]);
  messages.all = [...messages.all, stored('question', 'because')];
  messages.place(mine, 'question');
  messages.place(reply, 'reply', 'question');
  expect(messages.all.filter(({ id }) => id === 'question')).toEqual([mine]);
});

test('what goes on elsewhere is shown to whoever reads that branch', () => {
  messages.addFromElsewhere([stored('more', 'because'), stored('answer', 'more', 'assistant')]);
  expect(shown()).toEqual(['why', 'because', 'more', 'answer']);

  // Another reply to what is read.
  messages.addFromElsewhere([stored('again', 'why', 'assistant')]);
  expect(shown()).toEqual(['why', 'again']);

  // What follows a branch that is not shown.
  messages.addFromElsewhere([stored('so', 'answer')]);
  expect(shown()).toEqual(['why', 'again']);
});

test('a message goes with what follows it, and what is left of the branch is shown', () => {
  messages.addFromElsewhere([stored('more', 'because'), stored('answer', 'more', 'assistant')]);
  messages.remove(messages.tree.find('more')!);
  expect(shown()).toEqual(['why', 'because']);
  expect(messages.newestId).toBe('because');
});

test('one of another branch goes without a change of what is shown', () => {
  messages.addFromElsewhere([stored('again', 'why', 'assistant')]);
  messages.remove(messages.tree.find('because')!);
  expect(shown()).toEqual(['why', 'again']);
});

test('the newest way on from an alternative is shown', () => {
  messages.addFromElsewhere([stored('more', 'because')]);
  messages.addFromElsewhere([stored('again', 'why', 'assistant')]);
  messages.show(messages.tree.find('because')!);
  expect(shown()).toEqual(['why', 'because', 'more']);
});

test('where one of several is taken away, another is shown in its place', () => {
  messages.addFromElsewhere([stored('again', 'why', 'assistant')]);
  messages.remove(messages.tree.find('again')!);
  expect(shown()).toEqual(['why', 'because']);

  messages.addFromElsewhere([stored('how', null)]);
  messages.show(messages.tree.find('how')!);
  messages.remove(messages.tree.find('how')!);
  expect(shown()).toEqual(['why', 'because']);
  messages.remove(messages.tree.find('why')!);
  expect(shown()).toEqual([]);
});

test('no branch is out of reach, whatever end the service names', () => {
  const all = [...messages.all];
  messages.open(all, 'why');
  expect(shown()).toEqual(['why', 'because']);
  messages.open(all, null);
  expect(shown()).toEqual(['why', 'because']);
  messages.open([], null);
  expect(shown()).toEqual([]);
});
