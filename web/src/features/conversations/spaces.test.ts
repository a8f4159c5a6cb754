// @vitest-environment jsdom
import { afterEach, expect, test, vi } from 'vitest';
import type { UserEvent } from '#live/event_types.ts';
import { refused, serviceOf } from '../../../tests/helpers/answers.ts';
import { Spaces, type Space } from './spaces.svelte.ts';

const space = (id: string, changes: Partial<Space> = {}): Space => ({
  id,
  name: id,
  shared: null,
  owner: { id: 'alice', name: 'Alice' },
  access: 'owner',
  created_at: '2026-11-01T10:00:00.000000Z',
  updated_at: '2026-11-01T10:00:00.000000Z',
  instructions: '',
  conversations: 0,
  ...changes
});
const event = (type: string, data: object) => ({ type, data }) as UserEvent;
const names = (spaces: Spaces) => spaces.all.map(({ name }) => name).join(' ');

async function spacesOf(...rows: Space[]) {
  const asked = serviceOf(() => Response.json(rows));
  const spaces = new Spaces();
  await spaces.load();
  return { spaces, asked };
}

afterEach(() => vi.unstubAllGlobals());

test('all pages are loaded, and loaded once', async () => {
  const asked = serviceOf(({ query }) =>
    query.place
      ? Response.json([space('b')])
      : Response.json([space('a')], { headers: { Link: '</api/spaces?place=a>; rel="next"' } })
  );
  const spaces = new Spaces();
  await Promise.all([spaces.load(), spaces.load()]);
  expect([names(spaces), asked.length]).toEqual(['a b', 2]);
});

test('those that could not be loaded are asked for again', async () => {
  let isBroken = true;
  serviceOf(() => (isBroken ? refused(503, 'service_unavailable') : Response.json([space('a')])));
  const spaces = new Spaces();
  await spaces.load();
  expect([spaces.isLoaded, spaces.refusal?.code]).toEqual([false, 'service_unavailable']);
  isBroken = false;
  await spaces.load();
  expect([names(spaces), spaces.refusal]).toEqual(['a', null]);
});

test('conversations can be put into those of the user alone', async () => {
  const { spaces } = await spacesOf(space('a'), space('b', { access: 'write' }));
  expect(spaces.own.map(({ id }) => id)).toEqual(['a']);
});

test('one that was renamed elsewhere is read with its instructions', async () => {
  const { spaces } = await spacesOf(space('a'), space('b'));
  serviceOf(() => Response.json(space('b', { name: 'Sea', instructions: 'Be brief.' })));
  spaces.apply(event('space.updated', { space: space('b', { name: 'Sea' }) }));
  await vi.waitFor(() => expect(names(spaces)).toBe('a Sea'));
  expect(spaces.find('b')?.instructions).toBe('Be brief.');
});

test('whoever leaves a team has only their own', async () => {
  const { spaces } = await spacesOf(space('a'), space('b', { access: 'read' }));
  spaces.apply(event('team.left', { team_id: 'team' }));
  expect(names(spaces)).toBe('a');
});

test('whoever leaves takes their spaces along', async () => {
  const bob = { id: 'bob', name: 'Bob' };
  const { spaces } = await spacesOf(space('a'), space('b', { access: 'read', owner: bob }));
  spaces.apply(event('team.member.left', { team_id: 'team', member_id: 'bob' }));
  expect(names(spaces)).toBe('a');
});

test('nothing is asked for where nobody has looked at spaces', () => {
  const asked = serviceOf(() => Response.json([]));
  const spaces = new Spaces();
  spaces.apply(event('space.updated', { space: space('a') }));
  spaces.apply(event('team.joined', { team: {} }));
  spaces.reload();
  expect(asked).toEqual([]);
});
