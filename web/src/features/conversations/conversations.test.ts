// @vitest-environment jsdom
import { afterEach, expect, test, vi } from 'vitest';
import { serviceOf } from '../../../tests/helpers/answers.ts';
import { Conversations } from './conversations.svelte.ts';

const SPACES = [
  { id: 'sea', access: 'owner' },
  { id: 'team', access: 'write' }
];

function alices() {
  serviceOf(({ line }) => Response.json(line === 'GET /api/spaces' ? SPACES : []));
  return new Conversations();
}

afterEach(() => vi.unstubAllGlobals());

test('a new chat begins in the space that is shown, if it is the own of whoever begins it', async () => {
  const conversations = alices();
  expect(conversations.newSpaceId).toBeNull();
  await conversations.open('sea');
  expect(conversations.newSpaceId).toBe('sea');
  await conversations.open('team');
  expect([conversations.list.spaceId, conversations.newSpaceId]).toEqual(['team', null]);
});

test('until it is known whose space it is, the service decides', () => {
  const conversations = alices();
  void conversations.open('sea');
  expect(conversations.newSpaceId).toBe('sea');
});

test('an address of a space that is not there shows all', async () => {
  const conversations = alices();
  await conversations.open('gone');
  expect(conversations.list.spaceId).toBeNull();
});
