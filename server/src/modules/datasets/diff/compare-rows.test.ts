import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { compareRows } from '@bakehouse/contract/data-files';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../testing/temporary-folder.ts';
import { testServer } from '../../../testing/test-server.ts';
import { assetCalls } from '../../assets/testing/asset-calls.ts';
import { findRowDifferences, isTooMuch } from './find-row-differences.ts';

const server = await testServer();
const { create, upload } = assetCalls(server);
const [ada, eve] = [await server.signUp(), await server.signUp()];

type Content = string | Uint8Array<ArrayBuffer>;

/** What changed from one content of a file to the next. */
async function differences(name: string, before: Content, after: Content) {
  const id = await create(ada);
  await upload(ada, id, name, before);
  await upload(ada, id, name, after);
  return server.request(compareRows, { params: { id }, query: { path: name } }, { as: ada });
}

async function parquet(select: string): Promise<Uint8Array<ArrayBuffer>> {
  const file = path.join(await temporaryFolder(), 'rows.parquet');
  const database = await (await DuckDBInstance.create(':memory:')).connect();
  await database.run(`COPY (${select}) TO '${file}' (FORMAT parquet)`);
  return new Uint8Array(await readFile(file));
}

test('rows that were added, removed and changed are told apart by a column that has each value once', async () => {
  const found = await differences(
    'facts.csv',
    'question,answer\nRye?,dark\nOats?,coarse\nSpelt?,old\nRice?,white\n',
    'question,answer\nRice?,white\nRye?,very dark\nOats?,coarse\nCorn?,yellow\n',
  );
  expect(found).toMatchObject({
    problem: null,
    columns: ['question', 'answer'],
    key_column: 'question',
    rows_before: 4,
    rows_after: 4,
    added_count: 1,
    removed_count: 1,
    changed_count: 1,
    added: [{ at: 3, values: ['Corn?', 'yellow'] }],
    removed: [{ at: 2, values: ['Spelt?', 'old'] }],
    changed: [
      { before: { at: 0, values: ['Rye?', 'dark'] }, after: { at: 1, values: ['Rye?', 'very dark'] } },
    ],
  });
});

test('equal rows count as often as they stand there', async () => {
  const found = await differences(
    'a.jsonl',
    '{"a":1}\n{"a":1}\n{"a":2}\n',
    '{"a":1}\n{"a":2}\n{"a":2}\n{"a":3}\n',
  );
  expect(found).toMatchObject({ key_column: null, added_count: 2, removed_count: 1, changed_count: 0 });
  expect(found.added.map(({ values }) => values)).toEqual([[2], [3]]);
});

test('columns that came and went are named, and rows compared by the others', async () => {
  const found = await differences(
    'a.parquet',
    await parquet("SELECT i AS id, 'x' || i AS text, i * 2 AS old FROM range(1000) t(i)"),
    await parquet(
      "SELECT i::INTEGER AS id, 'y' AS new, CASE i WHEN 7 THEN '?' ELSE 'x' || i END AS text FROM range(1001) t(i)",
    ),
  );
  expect(found).toMatchObject({
    columns: ['id', 'text'],
    added_columns: ['new'],
    removed_columns: ['old'],
    key_column: 'id',
    added_count: 1,
    removed_count: 0,
    changed_count: 1,
    changed: [{ before: { values: [7, 'x7'] }, after: { values: [7, '?'] } }],
  });
});

test('only the first rows of many are shown, and a file that is new has only added ones', async () => {
  const id = await create(ada);
  await upload(ada, id, 'n.txt', Array.from({ length: 300 }, (_, at) => `line ${at}\n`).join(''));
  const query = { path: 'n.txt' };
  const found = await server.request(compareRows, { params: { id }, query }, { as: ada });
  expect(found).toMatchObject({ added_count: 300, rows_before: 0, rows_after: 300, removed_count: 0 });
  expect(found.added).toHaveLength(20);
  await expect(
    server.request(compareRows, { params: { id }, query: { path: 'none.csv' } }, { as: ada }),
  ).rejects.toThrow('404 not_found: There is no file none.csv');
  await expect(
    server.request(compareRows, { params: { id }, query: { path: 'a.bin' } }, { as: ada }),
  ).rejects.toThrow('Rows can be compared of');
  await expect(server.request(compareRows, { params: { id }, query }, { as: eve })).rejects.toMatchObject({
    status: 404,
  });
});

test('what cannot be compared is said in a sentence', async () => {
  const broken = await differences('a.parquet', 'no parquet', 'neither');
  expect(broken.problem).toMatch(/^a\.parquet cannot be read as Parquet: /);
  const other = await differences('b.csv', 'a,b\n1,2\n', 'c,d\n1,2\n');
  expect(other.problem).toBe('The two have no column in common, so that no row is comparable.');
  const wide = Array.from({ length: 300 }, (_, at) => `c${at}`).join(',');
  const many = await differences('c.csv', `${wide}\n`, `${wide}\n`.repeat(2));
  expect(many.problem).toContain('has too many cells to be compared here');
});

test('a comparison ends when its time is over', async () => {
  const folder = await temporaryFolder();
  const database = await (await DuckDBInstance.create(':memory:')).connect();
  for (const name of ['before', 'after'])
    await database.run(
      `COPY (SELECT i AS id, md5((i + random())::VARCHAR) AS text FROM range(400000) t(i)) TO '${folder}/${name}' (FORMAT parquet)`,
    );
  const here = process.cwd();
  const found = findRowDifferences({
    folder,
    name: 'a.parquet',
    before: 'before',
    after: 'after',
    seconds: 0,
  });
  expect(await found.catch((error: unknown) => isTooMuch(error))).toBe(true);
  process.chdir(here);
});
