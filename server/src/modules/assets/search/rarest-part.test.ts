import fc from 'fast-check';
import { expect, test } from 'vitest';
import { partsOf } from './rarest-part.ts';

test('splits a text into short words with their neighbouring characters, and pieces of long words', () => {
  expect(partsOf('rye, batch 90')).toEqual(['rye,', 'batch', ' 90']);
  expect(partsOf('Sourdough')).toEqual(['Sourd', 'dough']);
  expect(partsOf('0199a3f2-1c4d')).toEqual(['0199a', '9a3f2', '-1c4d']);
});

test('a text without an ASCII trigram has no parts', () => {
  expect(partsOf('90')).toEqual([]);
  expect(partsOf('9 ')).toEqual([]);
  expect(partsOf('90 %')).toEqual(['90 ']);
  expect(partsOf('пшеница 90')).toEqual([' 90']);
  expect(partsOf('я90я')).toEqual([]);
});

test('every part is contained in the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), (text) => {
      for (const part of partsOf(text)) expect(text).toContain(part);
    }),
  );
});
