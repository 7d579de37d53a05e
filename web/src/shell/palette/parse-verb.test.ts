import { expect, test } from 'vitest';
import { parseVerb } from './parse-verb.ts';

test('a verb at the beginning is separated from what it is meant for', () => {
  expect(parseVerb('Deploy  sour dough')).toEqual({ verb: 'deploy', words: 'sour dough' });
  expect(parseVerb('stop')).toEqual({ verb: 'terminate', words: '' });
  expect(parseVerb(' deployed ')).toEqual({ verb: null, words: 'deployed' });
  expect(parseVerb('sour deploy')).toEqual({ verb: null, words: 'sour deploy' });
});
