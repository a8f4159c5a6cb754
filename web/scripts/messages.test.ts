import { expect, test } from 'vitest';
import { complaints } from './messages.ts';

const source = '{m.hello({ name })} {m["bye"]()}';
const en = { hello: 'Hello, {name}', bye: 'Bye' };

test('nothing is said of messages that every locale has and the app uses', () => {
  expect(complaints({ en, de: { hello: 'Hallo {name}', bye: 'Tschüs' } }, [source])).toEqual([]);
});

test('a message that a locale lacks is named', () => {
  expect(complaints({ en, de: { hello: 'Hallo {name}' } }, [source])).toEqual(['bye is not in de']);
});

test('a message that nothing uses is named, also where a longer one is used', () => {
  expect(complaints({ en: { ...en, by: 'by' } }, [source])).toEqual(['by is not used']);
});

test('other inputs than in another locale are named', () => {
  const de = { hello: 'Hallo {who}', bye: 'Tschüs' };
  expect(complaints({ en, de }, [source])).toEqual(['hello has other inputs: name / who']);
});

test('the inputs of variants are those that they declare', () => {
  const variants = [{ declarations: ['input name', 'local n = name: plural'] }];
  expect(complaints({ en, de: { hello: variants, bye: 'Tschüs' } }, [source])).toEqual([]);
  const others = [{ declarations: ['input count'] }];
  expect(complaints({ en, de: { hello: others, bye: 'Tschüs' } }, [source])).toEqual([
    'hello has other inputs: name / count'
  ]);
});
