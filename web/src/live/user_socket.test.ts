import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Refusal } from '#api/refusal.ts';
import { socketServer } from '../../tests/helpers/socket_server.ts';
import type { UserEvent } from './event_types.ts';
import { UserSocket, type Identity } from './user_socket.ts';

let service: Awaited<ReturnType<typeof socketServer>>;
let socket: UserSocket;
let identity: { -readonly [Key in keyof Identity]: Identity[Key] };
let seen: number[];
let reloads: number;

const event = (seq: number) => ({ seq, type: 'conversation.deleted', data: {} });
const have = (...seqs: number[]) => vi.waitFor(() => expect(seen).toEqual(seqs));
const soon = () => new Promise((resolve) => setTimeout(resolve, 50));

beforeEach(async () => {
  service = await socketServer();
  identity = { user: { id: 'alice' }, token: async () => 'one', renewed: async () => 'two' };
  socket = new UserSocket(identity, service.origin);
  [seen, reloads] = [[], 0];
  socket.subscribe(
    ({ seq }: UserEvent) => seen.push(seq),
    () => reloads++
  );
});

afterEach(() => {
  vi.restoreAllMocks();
  socket.stop();
  service.close();
});

test('events come in order and once, from the place on that was given', async () => {
  socket.follow(4);
  const connection = await service.connection();
  expect(Object.fromEntries(connection.query)).toEqual({ token: 'one', after_seq: '4' });

  for (const seq of [4, 5, 5, 6]) connection.send(event(seq));
  connection.send({ type: 'ping', ts: '' });

  await have(5, 6);
});

test('a connection that breaks is made again from the last event on', async () => {
  socket.follow(4);
  const connection = await service.connection();
  connection.send(event(5));
  await have(5);

  connection.cut();
  const again = await service.connection();

  expect(again.query.get('after_seq')).toBe('5');
  again.send(event(6));
  await have(5, 6);
});

test('a token that is refused is renewed', async () => {
  socket.follow(4);
  (await service.connection()).close(4401);

  expect((await service.connection()).query.get('token')).toBe('two');
});

test('nobody is followed whose session has ended', async () => {
  identity.renewed = async () => Promise.reject(new Refusal(401, 'invalid_token', ''));
  socket.follow(4);
  (await service.connection()).close(4401);
  await soon();
  expect(service.pending).toBe(0);

  // The list that is loaded after the next sign-in begins again.
  socket.follow(7);
  expect((await service.connection()).query.get('after_seq')).toBe('7');
});

test('where events are lost, the lists are loaded anew and lead on', async () => {
  socket.follow(4);
  (await service.connection()).close(4410);
  await vi.waitFor(() => expect(reloads).toBe(1));

  socket.follow(20000);

  expect((await service.connection()).query.get('after_seq')).toBe('20000');
});

test('a list that is loaded again changes nothing, another user does', async () => {
  socket.follow(4);
  await service.connection();
  socket.follow(9);
  await soon();
  expect(service.pending).toBe(0);

  identity.user = { id: 'bob' };
  socket.follow(2);
  expect((await service.connection()).query.get('after_seq')).toBe('2');
});

test('who is not there any more is not told', async () => {
  const bob: number[] = [];
  const leave = socket.subscribe(({ seq }) => bob.push(seq));
  socket.follow(0);
  const connection = await service.connection();
  connection.send(event(1));
  await have(1);
  leave();
  connection.send(event(2));
  await have(1, 2);
  expect(bob).toEqual([1]);
});

test('a network that is back is used at once', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(1);
  socket.follow(4);
  (await service.connection()).cut();
  await soon();

  const before = Date.now();
  socket.hurry();
  await service.connection();
  expect(Date.now() - before).toBeLessThan(500);
});
