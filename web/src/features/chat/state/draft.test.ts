// @vitest-environment jsdom
import { beforeEach, expect, test } from 'vitest';
import { Draft, forgetDrafts, type Upload } from './draft.svelte.ts';

const upload = (id: string, created_at = new Date().toISOString()): Upload => ({
  id,
  name: `${id}.txt`,
  mime: 'text/plain',
  size: 1,
  readable: true,
  created_at
});

const draftOf = (conversation: string | null = 'talk', user = 'alice') =>
  new Draft(user, conversation);

/** What is typed, in a page that is closed afterwards. */
function typed(text: string, uploads: Upload[] = []): Draft {
  const draft = draftOf();
  Object.assign(draft, { text, uploads });
  draft.keep();
  return draft;
}

function sent(draft: Draft, parentId: string | null = 'before') {
  const { text: content, uploads } = draft;
  Object.assign(draft, { text: '', uploads: [] });
  return draft.send({ content, uploads, parentId, edits: null });
}

beforeEach(() => localStorage.clear());

test('what is typed is there again, for whoever has typed it, where they have typed it', () => {
  typed('Half a thought', [upload('sea')]);
  expect(draftOf()).toMatchObject({ text: 'Half a thought', uploads: [{ id: 'sea' }] });
  expect(draftOf('other').text).toBe('');
  expect(draftOf('talk', 'bob').text).toBe('');
});

test('a file that the service has deleted by now is left out', () => {
  const yesterday = new Date(Date.now() - 24 * 3600 * 1000).toISOString();
  typed('See', [upload('old', yesterday), upload('new')]);
  expect(draftOf().uploads.map(({ id }) => id)).toEqual(['new']);
});

test('what has arrived is forgotten', () => {
  const draft = typed('Why?');
  sent(draft);
  draft.sent();
  expect(localStorage).toHaveLength(0);
});

test('what was refused comes back before what was typed meanwhile', () => {
  const draft = typed('Why?', [upload('sea')]);
  sent(draft);
  draft.text = 'And how?';
  draft.giveBack();
  expect(draft).toMatchObject({
    text: 'Why?\n\nAnd how?',
    uploads: [{ id: 'sea' }],
    sending: null
  });
});

test('the same message has the same id when it is sent again, another one has another', () => {
  const draft = typed('Why?');
  const { id } = sent(draft);
  draft.giveBack();
  expect(sent(draft).id).toBe(id);

  draft.giveBack();
  draft.text = 'Why not?';
  expect(sent(draft).id).not.toBe(id);

  draft.giveBack();
  expect(sent(draft, 'elsewhere').id).not.toBe(id);
});

test('what was on its way when the page was closed comes back, unless it has arrived', () => {
  const { id } = sent(typed('Why?'));
  const back = draftOf();
  back.settle(new Set(['other']));
  expect(back).toMatchObject({ text: 'Why?', sending: null });

  const again = sent(typed('Why?'));
  const arrived = draftOf();
  arrived.settle(new Set([again.id]));
  expect(arrived).toMatchObject({ text: '', sending: null });
  expect(again.id).not.toBe(id);
});

test('what was taken back and has arrived all the same is forgotten, unless it was changed', () => {
  const draft = typed('Why?');
  const { id } = sent(draft);
  draft.giveBack();
  draft.settle(new Set([id]));
  expect(draft.text).toBe('');

  const changed = typed('Why?');
  const before = sent(changed);
  changed.giveBack();
  changed.text = 'Why not?';
  changed.settle(new Set([before.id]));
  expect(changed.text).toBe('Why not?');
});

test('an edit that was refused is open again', () => {
  const draft = typed('Something new');
  draft.send({ content: 'Other words', uploads: [], parentId: null, edits: 'message' });
  draft.giveBack();
  expect(draft).toMatchObject({
    text: 'Something new',
    editing: { id: 'message', text: 'Other words' }
  });
});

test('the first message goes along into its conversation', () => {
  const draft = draftOf(null);
  draft.text = 'Why?';
  sent(draft, null);
  draft.moveTo('begun');
  draft.giveBack();
  expect(draftOf('begun').text).toBe('Why?');
  expect(draftOf(null).text).toBe('');
});

test('what something else has stored there is passed over', () => {
  localStorage.setItem('draft:alice:talk', '{');
  expect(draftOf().text).toBe('');
});

test('whoever signs out leaves nothing that was typed', () => {
  typed('Half a thought');
  const bob = draftOf('talk', 'bob');
  bob.text = 'Of another user';
  bob.keep();
  forgetDrafts('alice');
  expect(draftOf().text).toBe('');
  expect(draftOf('talk', 'bob').text).toBe('Of another user');
});
