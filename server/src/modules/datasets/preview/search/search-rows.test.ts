import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type RowFilter, searchRows } from '@bakehouse/contract/data-files';
import { describe, expect, test } from 'vitest';
import { realPython } from '../../../../testing/real-python.ts';
import { temporaryFolder } from '../../../../testing/temporary-folder.ts';
import { testServer } from '../../../../testing/test-server.ts';
import { assetCalls } from '../../../assets/testing/asset-calls.ts';
import { profiledFile } from '../../testing/profiled-file.ts';
import { oneRunParquet } from '../testing/one-run-parquet.ts';
import { searchDataFile } from './search-data-file.ts';

const folder = await temporaryFolder();

/** Returns the rows found in a file with this name and content. */
async function find(
  name: string,
  content: string | Buffer,
  text: string,
  { offset = 0, limit = 100, filters = [] }: { offset?: number; limit?: number; filters?: RowFilter[] } = {},
) {
  const localPath = path.join(folder, name);
  await writeFile(localPath, content);
  const file = await profiledFile(localPath, name);
  return searchDataFile({ ...file, text, filters, offset, limit, lookMs: Number.POSITIVE_INFINITY });
}

describe('finds rows that contain a text', () => {
  test('csv: searches all columns case-insensitively and returns indexes among readable rows', async () => {
    const csv = 'question,answer\nWho bakes?,ADA\nbroken\nWhat?,Rye bread\nadamant,no\n';
    expect(await find('d.csv', csv, 'ada')).toMatchObject({
      columns: ['question', 'answer'],
      rows: [
        ['Who bakes?', 'ADA'],
        ['adamant', 'no'],
      ],
      at: [0, 2],
      rows_read: 3,
      is_whole: true,
    });
    expect(await find('d.csv', csv, 'flour')).toMatchObject({ rows: [], at: [], is_whole: true });
  });

  test('jsonl: searches numbers, lists and objects, and shows conversations', async () => {
    const lines = [
      { messages: [{ role: 'user', content: 'How much "rye"?' }], grams: 500 },
      { messages: [{ role: 'user', content: 'Any salt?' }], grams: 12 },
    ];
    const jsonl = lines.map((line) => JSON.stringify(line)).join('\n');
    const found = await find('d.jsonl', jsonl, '"RYE"');
    expect(found).toMatchObject({ at: [0], conversations: [{ turns: [{ content: 'How much "rye"?' }] }] });
    expect((await find('d.jsonl', jsonl, '12')).at).toEqual([1]);
    // Keys are not searched.
    expect((await find('d.jsonl', jsonl, 'content')).at).toEqual([]);
  });

  test('finds a word beyond the part of a cell that is shown', async () => {
    const found = await find('d.txt', `first\n${'x'.repeat(5_000)} needle\n`, 'needle');
    expect(found.at).toEqual([1]);
    expect(String(found.rows[0]?.[0]).length).toBeLessThan(2_100);
  });

  test('stops at the requested number of rows and continues from there', async () => {
    const loaves = 'loaf\nrye\n'.repeat(15);
    const found = await find('d.txt', loaves, 'loaf', { limit: 10 });
    expect(found).toMatchObject({ rows_read: 19, is_whole: false, next_offset: 19 });
    expect(found.at).toHaveLength(10);
    const rest = await find('d.txt', loaves, 'loaf', { offset: 19 });
    expect(rest).toMatchObject({
      at: [20, 22, 24, 26, 28],
      rows_read: 30,
      is_whole: true,
      next_offset: null,
    });
    expect(await find('d.txt', loaves, 'loaf', { offset: 99 })).toMatchObject({ at: [], is_whole: true });
  });

  test("searches a file to its end, even beyond the limit of training's reader", async () => {
    const line = `${'x'.repeat(1023)}\n`;
    const found = await find('d.txt', `needle\n${line.repeat(20 * 1024)}\n${line}Needle\n`, 'needle');
    expect(found).toMatchObject({ at: [0, 20 * 1024 + 3], is_whole: true, rows_read: 20 * 1024 + 4 });
    const filler = 'x'.repeat(1000);
    const rows = Array.from({ length: 20_000 }, (_, at) => ({ q: { a: `${filler} Zürich ${at}` }, n: at }));
    const jsonl = `no JSON\n${rows.map((row) => JSON.stringify(row)).join('\n')}\n`;
    expect(await find('d.jsonl', jsonl, 'ZÜRICH 19999')).toMatchObject({ at: [19_999], columns: ['q', 'n'] });
    const csv = `q,n\nbroken\n${rows.map(({ q, n }) => `"${q.a}",${n}`).join('\n')}\n`;
    const filters = [{ column: 'n', of: 'value', min: 19_990, max: 19_991.5 } as const];
    expect(await find('d.csv', csv, 'zürich', { filters })).toMatchObject({
      at: [19_990, 19_991],
      is_whole: true,
    });
  });

  test('filters by ranges of numbers and lengths, by values, and by empty cells', async () => {
    const csv = 'q,n\nshort,1\na longer one,20\nshort,\n,7\n';
    const at = async (filter: object, name = 'd.csv', content = csv) =>
      (await find(name, content, '', { filters: [{ of: 'value', column: 'n', ...filter }] })).at;
    expect(await at({ min: 2, max: 20 })).toEqual([1, 3]);
    expect(await at({ column: 'q', of: 'length', max: 5 })).toEqual([0, 2]);
    expect(await at({ column: 'q', value: 'short' })).toEqual([0, 2]);
    expect(await at({ column: 'q', value: 'a long…' })).toEqual([1]);
    expect(await at({ of: 'nothing' })).toEqual([2]);
    const jsonl = '{"q":"a","n":1}\n{"q":"b","n":[1,2]}\n{"q":"a"}\n';
    expect(await at({ min: 1 }, 'd.jsonl', jsonl)).toEqual([0]);
    expect(await at({ of: 'length', min: 2 }, 'd.jsonl', jsonl)).toEqual([1]);
    expect(await at({ of: 'nothing' }, 'd.jsonl', jsonl)).toEqual([2]);
    await expect(at({ column: 'nope' })).rejects.toThrow("The file has no column 'nope'.");
  });

  test('Parquet', async () => {
    const file = await readFile(path.join(import.meta.dirname, '../fixtures/snappy.parquet'));
    const all = await find('d.parquet', file, 'e');
    expect(all).toMatchObject({ is_whole: true });
    expect(all.at.length).toBeGreaterThan(0);
    expect(await find('d.parquet', file, 'nothing like it')).toMatchObject({
      at: [],
      rows_read: all.rows_read,
    });
  });

  test('searches more Parquet rows than one page', async () => {
    const file = oneRunParquet({ rows: 50_000, saidRows: 50_000 });
    expect(await find('d.parquet', file, 'nothing like it')).toMatchObject({
      ...{ at: [], rows_read: 50_000, is_whole: true, next_offset: null },
    });
    const { rows } = await find('d.parquet', file, '', { limit: 1 });
    const [value] = rows[0] ?? [];
    const found = await find('d.parquet', file, String(value), { offset: 30_000, limit: 2 });
    expect(found).toMatchObject({ at: [30_000, 30_001], rows_read: 30_002, next_offset: 30_002 });
  });
});

test('finds rows in a confined process, for everyone who may read the dataset', async () => {
  const server = await testServer({ config: realPython });
  const { create, upload } = assetCalls(server);
  const [ada, eve] = [await server.signUp(), await server.signUp()];
  const id = await create(ada, { title: 'Facts' });
  await upload(ada, id, 'd.csv', 'name\nrye\nspelt\n');
  const search = (query: { path: string; text?: string; filters?: string; limit?: number }, as = ada) =>
    server.request(searchRows, { params: { id }, query }, { as });
  expect(await search({ path: 'd.csv', text: ' SPELT ' })).toMatchObject({ rows: [['spelt']], at: [1] });
  await expect(search({ path: 'd.csv', text: ' ' })).rejects.toThrow('text is required');
  const filters = JSON.stringify([{ column: 'name', value: 'rye' }]);
  expect(await search({ path: 'd.csv', filters })).toMatchObject({ rows: [['rye']], at: [0] });
  await expect(search({ path: 'd.csv', filters: '{' })).rejects.toThrow(
    'filters must be a JSON list such as',
  );
  await expect(search({ path: 'd.csv', filters: '[{"column": 1}]' })).rejects.toMatchObject({ status: 400 });
  const other = JSON.stringify([{ column: 'nope' }]);
  await expect(search({ path: 'd.csv', filters: other })).rejects.toThrow("The file has no column 'nope'.");
  await expect(search({ path: 'd.csv', text: 'rye' }, eve)).rejects.toMatchObject({ status: 404 });
  await upload(ada, id, 'd.bin', 'rye');
  await expect(search({ path: 'd.bin', text: 'rye' })).rejects.toThrow(
    'd.bin cannot be read: use a csv, jsonl, json, txt or parquet file.',
  );
});
