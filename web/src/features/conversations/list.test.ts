// @vitest-environment jsdom
import { afterEach, expect, test, vi } from 'vitest';
import type { UserEvent } from '#live/event_types.ts';
import { deferred, refused, serviceOf, type Asked } from '../../../tests/helpers/answers.ts';
import { ConversationList } from './list.svelte.ts';
import type { Row } from './rows.ts';

const row = (id: string, at: number, changes: Partial<Row> = {}): Row => ({
  id,
  title: `About ${id}`,
  model: null,
  space_id: null,
  active_leaf_id: null,
  running_message_id: null,
  pinned: false,
  access: 'owner',
  created_at: time(at),
  updated_at: time(at),
  match: null,
  ...changes
});
const time = (at: number) => `2026-11-01T10:00:${String(at).padStart(2, '0')}.000000Z`;
const page = (rows: Row[], place?: string) =>
  Response.json(rows, {
    headers: {
      'X-Next-Seq': '7',
      ...(place && { Link: `<https://example.com/api/conversations?place=${place}>; rel="next"` })
    }
  });
const event = (type: string, data: object, at = 50) =>
  ({ seq: 8, type, session_id: 'alice', created_at: time(at), actor: 'user', data }) as UserEvent;
const changed = (conversation: Row) => event('conversation.updated', { conversation });
const ids = (list: ConversationList) => list.rows.map(({ id }) => id).join(' ');

/** A list of these rows, of which there are no more. */
async function listOf(...rows: Row[]) {
  const asked = serviceOf(() => page(rows));
  const list = new ConversationList();
  await list.load();
  return { list, asked };
}

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('pages follow each other until the last one', async () => {
  const asked = serviceOf(({ query }) =>
    query.place ? page([row('a', 1)]) : page([row('b', 2)], 'b')
  );
  const list = new ConversationList();

  expect(await list.load()).toBe(7);
  expect([ids(list), list.hasMore]).toEqual(['b', true]);
  await list.more();
  expect([ids(list), list.hasMore]).toEqual(['b a', false]);
  await list.more();
  expect(asked.map(({ query }) => query.place)).toEqual([undefined, 'b']);
});

test('a page is asked for once, however often one scrolls to its place', async () => {
  const asked = serviceOf(({ query }) =>
    query.place ? page([row('a', 1)]) : page([row('b', 2)], 'b')
  );
  const list = new ConversationList();
  await list.load();
  await Promise.all([list.more(), list.more(), list.more()]);
  expect(asked).toHaveLength(2);
});

test('a page that does not come says so, and comes when it is asked for again', async () => {
  let isBroken = true;
  serviceOf(({ query }) => {
    if (!query.place) return page([row('b', 2)], 'b');
    return isBroken ? refused(503, 'service_unavailable') : page([row('a', 1)]);
  });
  const list = new ConversationList();
  await list.load();
  await list.more();
  expect([ids(list), list.refusal?.code]).toEqual(['b', 'service_unavailable']);
  isBroken = false;
  await list.more();
  expect([ids(list), list.refusal]).toEqual(['b a', null]);
});

test('a list that does not load says so instead of loading for ever', async () => {
  serviceOf(() => refused(500, 'internal_error'));
  const list = new ConversationList();
  expect(await list.load()).toBeNull();
  expect([list.isLoading, list.refusal?.code]).toEqual([false, 'internal_error']);
});

test('a new one comes on top, below those that are pinned', async () => {
  const { list } = await listOf(row('pinned', 1, { pinned: true }), row('a', 2));
  list.apply(event('conversation.created', { conversation: row('b', 3) }));
  expect(ids(list)).toBe('pinned b a');
});

test('a title that another device gives appears', async () => {
  const { list } = await listOf(row('b', 2), row('a', 1));
  list.apply(changed(row('a', 1, { title: 'The tides' })));
  expect(list.rows.map(({ title }) => title)).toEqual(['About b', 'The tides']);
});

test('one in which a reply begins moves up and is marked until the reply ends', async () => {
  const { list } = await listOf(row('b', 2), row('a', 1));
  const reply = { conversation_id: 'a', title: 'Sea', message_id: 'reply' };

  list.apply(event('conversation.replied', { ...reply, status: 'running' }));
  expect([ids(list), list.rows[0]?.running_message_id, list.rows[0]?.title]).toEqual([
    'a b',
    'reply',
    'Sea'
  ]);
  list.apply(event('conversation.replied', { ...reply, status: 'completed' }));
  expect(list.rows[0]?.running_message_id).toBeNull();
});

test('one of a page that is not loaded comes when it goes on', async () => {
  const old = row('old', 30);
  serviceOf(({ line }) =>
    line === 'GET /api/conversations'
      ? page([row('b', 2)], 'b')
      : Response.json({ ...old, system: '', messages: null })
  );
  const list = new ConversationList();
  await list.load();

  const reply = { conversation_id: 'old', title: 'Sea', message_id: 'reply', status: 'running' };
  list.apply(event('conversation.replied', reply));

  await vi.waitFor(() => expect(ids(list)).toBe('old b'));
});

test('what is deleted elsewhere goes', async () => {
  const { list } = await listOf(row('b', 2), row('a', 1));
  list.apply(event('conversation.deleted', { conversation_id: 'b' }));
  expect(ids(list)).toBe('a');
});

test('what happens while a list is being read counts, though the answer does not know it yet', async () => {
  const answer = deferred<Response>();
  serviceOf(() => answer.promise);
  const list = new ConversationList();
  const loaded = list.load();

  list.apply(event('conversation.deleted', { conversation_id: 'a' }));
  list.apply(changed(row('b', 2, { title: 'The tides' })));
  answer.resolve(page([row('b', 2), row('a', 1)]));
  await loaded;

  expect([ids(list), list.rows[0]?.title]).toEqual(['b', 'The tides']);
});

test('conversations of others are in the list of their space alone', async () => {
  const { list } = await listOf(row('a', 1));
  const foreign = row('b', 2, { access: 'read', space_id: 'team' });
  list.apply(event('conversation.created', { conversation: foreign }));
  expect(ids(list)).toBe('a');

  list.show('team');
  await vi.waitFor(() => expect(list.isLoading).toBe(false));
  list.apply(event('conversation.created', { conversation: foreign }));
  expect(ids(list)).toContain('b');
});

test('one that leaves the space that is shown leaves the list', async () => {
  const { list } = await listOf(row('a', 1, { space_id: 'sea' }));
  list.show('sea');
  await vi.waitFor(() => expect(list.isLoading).toBe(false));
  list.apply(changed(row('a', 1)));
  expect(ids(list)).toBe('');
});

test('a space that is deleted is not shown any more, and its conversations are in none', async () => {
  const { list, asked } = await listOf(row('a', 1, { space_id: 'sea' }));
  list.show('sea');
  await vi.waitFor(() => expect(list.isLoading).toBe(false));

  list.apply(event('space.deleted', { space_id: 'sea' }));
  await vi.waitFor(() => expect(list.isLoading).toBe(false));

  expect(list.spaceId).toBeNull();
  expect(asked.map(({ query }) => query.space_id)).toEqual([undefined, 'sea', undefined]);
});

test('a search is sent once nobody types, and an empty one at once', async () => {
  vi.useFakeTimers();
  const asked: Asked[] = serviceOf(() => page([row('a', 1)]));
  const list = new ConversationList();
  for (const query of ['t', 'ti', ' tide ']) {
    list.search(query);
    await vi.advanceTimersByTimeAsync(100);
  }
  await vi.advanceTimersByTimeAsync(300);
  expect(asked.map(({ query }) => query.q)).toEqual(['tide']);
  list.search('');
  await vi.advanceTimersByTimeAsync(0);
  expect(asked.map(({ query }) => query.q)).toEqual(['tide', undefined]);
});

test('the answer to an earlier search does not replace that of a later one', async () => {
  vi.useFakeTimers();
  const slow = deferred<Response>();
  serviceOf(({ query }) => (query.q === 'sea' ? slow.promise : page([row('later', 2)])));
  const list = new ConversationList();
  list.search('sea');
  await vi.advanceTimersByTimeAsync(300);
  list.search('seal');
  await vi.advanceTimersByTimeAsync(300);
  slow.resolve(page([row('earlier', 1)]));
  await vi.advanceTimersByTimeAsync(0);
  expect(ids(list)).toBe('later');
});

test('what was found keeps its place and its match, and nothing else joins it', async () => {
  vi.useFakeTimers();
  const match = { message_id: 'm', snippet: 'the sea' };
  serviceOf(() => page([row('b', 2, { match }), row('a', 1)]));
  const list = new ConversationList();
  list.search('sea');
  await vi.advanceTimersByTimeAsync(300);

  list.apply(changed(row('a', 1, { title: 'Tides', updated_at: time(40) })));
  list.apply(changed(row('b', 2, { title: 'Waves' })));
  list.apply(event('conversation.created', { conversation: row('c', 3) }));

  expect(list.rows.map(({ title }) => title)).toEqual(['Waves', 'Tides']);
  expect(list.rows[0]?.match).toEqual(match);
  expect(list.groups.map(({ section }) => section)).toEqual(['found']);
});

test('a change shows what the service has stored', async () => {
  const asked = serviceOf(({ line }) =>
    line.startsWith('PATCH')
      ? Response.json({ ...row('a', 1, { title: 'First line' }), system: '', match: undefined })
      : page([row('a', 1)])
  );
  const list = new ConversationList();
  await list.load();
  await list.change('a', { title: '' });
  expect(asked.at(-1)).toEqual({
    line: 'PATCH /api/conversations/a',
    query: {},
    body: { title: '' }
  });
  expect(list.rows[0]?.title).toBe('First line');
});

test('many are deleted a hundred at a time', async () => {
  const many = Array.from({ length: 250 }, (_, at) => row(`r${at}`, 1));
  const { list, asked } = await listOf(...many);
  await list.delete(many.map(({ id }) => id));
  const counts = asked.slice(1).map(({ body }) => (body as { ids: string[] }).ids.length);
  expect([counts, ids(list)]).toEqual([[100, 100, 50], '']);
});

test('what could not be deleted stays', async () => {
  serviceOf(({ line }) =>
    line.startsWith('POST') ? refused(503, 'service_unavailable') : page([row('a', 1)])
  );
  const list = new ConversationList();
  await list.load();
  await expect(list.delete(['a'])).rejects.toMatchObject({ code: 'service_unavailable' });
  expect(ids(list)).toBe('a');
});
