import { expect, test } from 'vitest';
import { hasRows, isDataFile } from './data-file.ts';
import { fileToTrainOn, mayTrainText, selectedDataFile } from './selected-data-file.ts';

test.each([
  'a.csv',
  'a.TSV',
  'x/a.jsonl',
  'a.ndjson',
  'a.jsonlines',
  'a.json',
  'a.txt',
  'notes.md',
  'a.parquet',
])('%s contains rows or text', (path) => expect(isDataFile(path)).toBe(true));

test.each(['README.md', 'x/readme.md', 'a.jsonl.gz', 'a.png', 'csv'])('%s contains neither', (path) =>
  expect(isDataFile(path)).toBe(false),
);

test.each([
  ['a.csv', true],
  ['x/a.jsonl.GZ', true],
  ['a.parquet.gz', false],
  ['README.md.gz', false],
  ['a.tar.gz', false],
])('shows rows of %s: %s', (path, shown) => expect(hasRows(path)).toBe(shown));

test('a gzip file can be viewed but not trained on', () => {
  const asset = { files: [{ path: 'a.csv.gz' }], next_files_cursor: null } as Parameters<
    typeof mayTrainText
  >[0];
  expect(selectedDataFile(asset, undefined)).toBe('a.csv.gz');
  expect(fileToTrainOn(asset, 'a.csv.gz')).toBeUndefined();
  expect(mayTrainText(asset)).toBe(false);
});

test.each([
  [['notes.txt'], null, true],
  [['loaf.png', 'metadata.jsonl'], null, false],
  [['loaf.png', 'metadata.jsonl'], 'next', false],
  [['loaf.png', 'rye.jpg'], 'next', false],
  [['loaf.png', 'loaf.txt'], null, false],
  [['a/loaf.PNG', 'a/loaf.txt', 'rye.txt'], null, true],
  [['loaf.png', 'rye.jpg'], null, false],
  [['loaf.png', 'metadata.jsonl', 'recipes.csv'], null, true],
  [['metadata.jsonl'], null, true],
  [['archive.bin'], 'next', true],
  [['archive.bin'], null, false],
  [[], null, false],
])('a dataset whose first files are %j (more: %s) is offered to text models: %s', (paths, more, offered) => {
  const files = paths.map((path) => ({ path })) as Parameters<typeof mayTrainText>[0]['files'];
  expect(mayTrainText({ files, next_files_cursor: more })).toBe(offered);
});
