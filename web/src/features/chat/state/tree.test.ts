import { expect, test } from 'vitest';
import { Tree, type Node } from './tree.ts';

/** Messages by their ids: `b<a` follows `a`. */
function treeOf(...places: string[]): Tree<Node> {
  const nodes = places.map((place) => {
    const [id, parentId = null] = place.split('<');
    return { id: id!, parentId };
  });
  return new Tree(nodes);
}

const ids = (nodes: Iterable<Node>) => [...nodes].map(({ id }) => id);

// Asked, answered twice, and asked in other words.
const talk = treeOf('why', 'first<why', 'second<why', 'more<second', 'how', 'so<how');

test('a branch leads from the first message to its end', () => {
  expect(ids(talk.branch('more'))).toEqual(['why', 'second', 'more']);
  expect(ids(talk.branch('first'))).toEqual(['why', 'first']);
  expect(talk.branch(null)).toEqual([]);
  expect(talk.branch('gone')).toEqual([]);
});

test('messages of the same parent are alternatives, also the first ones', () => {
  expect(ids(talk.alternatives(talk.find('first')!))).toEqual(['first', 'second']);
  expect(ids(talk.alternatives(talk.find('how')!))).toEqual(['why', 'how']);
});

test('the newest branch through a message ends with its newest message', () => {
  expect(talk.newestEnd(talk.find('why')!).id).toBe('more');
  expect(talk.newestEnd(talk.find('first')!).id).toBe('first');
});

test('a message goes with all that follows it', () => {
  expect(ids(talk.below(talk.find('second')!))).toEqual(['second', 'more']);
  expect(ids(talk.below(talk.find('why')!)).sort()).toEqual(['first', 'more', 'second', 'why']);
});

test('a long conversation is made into a tree at once', () => {
  const places = Array.from({ length: 5000 }, (_, at) => (at ? `${at}<${at - 1}` : '0'));
  const began = performance.now();
  const tree = treeOf(...places);
  expect(tree.branch('4999')).toHaveLength(5000);
  expect(tree.below(tree.find('0')!).size).toBe(5000);
  expect(performance.now() - began).toBeLessThan(200);
});
