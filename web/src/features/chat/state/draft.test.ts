// @vitest-environment jsdom
import { beforeEach, expect, test, vi } from 'vitest';
import { Draft, hasDrafts, type Upload } from './draft.svelte.ts';

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

type Holding = (lock: object | null) => Promise<unknown> | boolean;

/** The locks of a browser: those that tabs hold, by their names. */
const held = new Set<string>();

async function request(name: string, _: object, use: Holding) {
  if (held.has(name)) return use(null);
  held.add(name);
  const used = await use({});
  held.delete(name);
  return used;
}

/** Another tab of the browser, in which a new conversation is typed. */
async function tab() {
  vi.resetModules();
  sessionStorage.clear();
  const { Draft: Typed } = await import('./draft.svelte.ts');
  const draft = new Typed('alice', null);
  await draft.adopt();
  return {
    draft,
    type(text: string) {
      draft.text = text;
      draft.keep();
    },
    /** The draft that is there when the page of this tab is loaded again. */
    again: () => new Typed('alice', null).text
  };
}

beforeEach(() => {
  held.clear();
  localStorage.clear();
  Object.assign(navigator, { locks: { request } });
});

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

test('what was typed stays for whoever has typed it, and for nobody else', () => {
  typed('Half a thought');
  expect([hasDrafts('alice'), hasDrafts('bob')]).toEqual([true, false]);
  expect(draftOf('talk', 'bob').text).toBe('');
});

test('each tab has a new conversation of its own', async () => {
  const [first, second] = [await tab(), await tab()];
  first.type('One');
  second.type('Two');
  expect([first.again(), second.again()]).toEqual(['One', 'Two']);
});

test('what was typed in a tab that is closed is there in the next one, once', async () => {
  const first = await tab();
  first.type('One');
  expect((await tab()).draft.text).toBe('');
  held.clear();
  expect((await tab()).draft.text).toBe('One');
  expect((await tab()).draft.text).toBe('');
});

test('where something is typed already, what others have left waits', async () => {
  (await tab()).type('One');
  held.clear();
  const second = await tab();
  second.type('Two');
  (await tab()).type('Three');
  await second.draft.adopt();
  expect(second.draft.text).toBe('Two');
});

test('what was typed in a conversation that is gone is left to a new one', async () => {
  const draft = typed('Half a thought', [upload('sea')]);
  draft.editing = { id: 'message', text: 'Other words' };
  draft.keep();
  const elsewhere = draftOf();
  expect([draft.leave(), elsewhere.leave()]).toEqual([true, false]);
  expect((await tab()).draft).toMatchObject({
    text: 'Other words\n\nHalf a thought',
    uploads: [{ id: 'sea' }]
  });
  expect((await tab()).draft.text).toBe('');
});

test('a conversation that is gone leaves nothing where nothing was typed', () => {
  expect(draftOf().leave()).toBe(false);
  expect(localStorage).toHaveLength(0);
});
