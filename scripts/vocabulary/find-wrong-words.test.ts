import { expect, test } from 'vitest';
import { findWrongWords, proseOf, readWrongWords, withoutAll } from './find-wrong-words.ts';

const words = readWrongWords(
  '| Word | What | Not |\n|---|---|---|\n| server | a | installation |\n| dataset | b | data set |\n| run | c | |',
);

test('the table lists words and their replacements', () => {
  expect([...words]).toEqual([
    ['installation', 'server'],
    ['data set', 'dataset'],
  ]);
});

test('finds a wrong word as a whole word, in any case, and in the plural', () => {
  expect(findWrongWords('All Data Sets of it', words)).toEqual([
    "'data set' is called 'dataset': All Data Sets of it",
  ]);
  expect(findWrongWords('Its installation', words)).toHaveLength(1);
  expect(findWrongWords('installations-of, reinstallation', words)).toEqual([]);
  expect(findWrongWords('This server has one dataset', words)).toEqual([]);
});

test('ignores sentences of the specification, but not text next to them', () => {
  const specified = ['Send to the installation'];
  expect(findWrongWords(withoutAll('Send to the installation. Done', specified), words)).toEqual([]);
  expect(
    findWrongWords(withoutAll('Send to the installation of an installation', specified), words),
  ).toHaveLength(1);
});

test('separates prose from code', () => {
  expect(proseOf('a `data set` b\n```\ninstallation\n```\nc').join(' ')).not.toMatch(/data set|installation/);
});
