import { expect, test } from 'vitest';
import { isDataFile } from './data-file.ts';

test.each(['a.csv', 'a.TSV', 'x/a.jsonl', 'a.ndjson', 'a.json', 'a.txt', 'notes.md', 'a.parquet'])(
  '%s holds rows or a text',
  (path) => expect(isDataFile(path)).toBe(true),
);

test.each(['README.md', 'x/readme.md', 'a.jsonl.gz', 'a.png', 'csv'])('%s does not', (path) =>
  expect(isDataFile(path)).toBe(false),
);
