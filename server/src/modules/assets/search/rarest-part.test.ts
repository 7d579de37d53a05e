import fc from 'fast-check';
import { expect, test } from 'vitest';
import { partsOf } from './rarest-part.ts';

test('parts are short words with what is beside them, and pieces of long ones', () => {
  expect(partsOf('rye, batch 90')).toEqual(['rye,', 'batch', ' 90']);
  expect(partsOf('Sourdough')).toEqual(['Sourd', 'dough']);
  expect(partsOf('0199a3f2-1c4d')).toEqual(['0199a', '9a3f2', '-1c4d']);
});

test('what has no trigram of ASCII is no part', () => {
  expect(partsOf('90')).toEqual([]);
  expect(partsOf('9 ')).toEqual([]);
  expect(partsOf('90 %')).toEqual(['90 ']);
  expect(partsOf('пшеница 90')).toEqual([' 90']);
  expect(partsOf('я90я')).toEqual([]);
});

test('each part lies in the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), (text) => {
      for (const part of partsOf(text)) expect(text).toContain(part);
    }),
  );
});
