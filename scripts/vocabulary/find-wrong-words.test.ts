import { expect, test } from 'vitest';
import { findWrongWords, proseOf, readWrongWords, withoutAll } from './find-wrong-words.ts';

const words = readWrongWords(
  '| Word | What | Not |\n|---|---|---|\n| server | a | installation |\n| dataset | b | data set |\n| run | c | |',
);

test('the table says what is called otherwise', () => {
  expect([...words]).toEqual([
    ['installation', 'server'],
    ['data set', 'dataset'],
  ]);
});

test('a wrong word is found whole, in any case, and in the plural', () => {
  expect(findWrongWords('All Data Sets of it', words)).toEqual([
    "'data set' is called 'dataset': All Data Sets of it",
  ]);
  expect(findWrongWords('Its installation', words)).toHaveLength(1);
  expect(findWrongWords('installations-of, reinstallation', words)).toEqual([]);
  expect(findWrongWords('This server has one dataset', words)).toEqual([]);
});

test('what the specification says stays, and what stands beside it does not', () => {
  const specified = ['Send to the installation'];
  expect(findWrongWords(withoutAll('Send to the installation. Done', specified), words)).toEqual([]);
  expect(
    findWrongWords(withoutAll('Send to the installation of an installation', specified), words),
  ).toHaveLength(1);
});

test('prose is told from code', () => {
  expect(proseOf('a `data set` b\n```\ninstallation\n```\nc').join(' ')).not.toMatch(/data set|installation/);
});
