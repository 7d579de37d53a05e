import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { searchRows } from '@bakehouse/contract/data-files';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../../testing/temporary-folder.ts';
import { testServer } from '../../../../testing/test-server.ts';
import { assetCalls } from '../../../assets/testing/asset-calls.ts';
import { oneRunParquet } from '../testing/one-run-parquet.ts';
import { readFound } from './read-found.ts';

const folder = await temporaryFolder();

/** What is found in a file with this name and content. */
async function find(
  name: string,
  content: string | Buffer,
  text: string,
  { offset = 0, limit = 100 }: { offset?: number; limit?: number } = {},
) {
  const localPath = path.join(folder, name);
  await writeFile(localPath, content);
  return readFound({ localPath, name, text, offset, limit, lookMs: Number.POSITIVE_INFINITY });
}

describe('the rows with a text in a cell', () => {
  test('csv: in any column, letter case aside, with their places among the rows that can be read', async () => {
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

  test('jsonl: in numbers and inside of lists and objects, and a conversation is shown as one', async () => {
    const lines = [
      { messages: [{ role: 'user', content: 'How much "rye"?' }], grams: 500 },
      { messages: [{ role: 'user', content: 'Any salt?' }], grams: 12 },
    ];
    const jsonl = lines.map((line) => JSON.stringify(line)).join('\n');
    const found = await find('d.jsonl', jsonl, '"RYE"');
    expect(found).toMatchObject({ at: [0], conversations: [{ turns: [{ content: 'How much "rye"?' }] }] });
    expect((await find('d.jsonl', jsonl, '12')).at).toEqual([1]);
    // What its parts are called is not what they hold.
    expect((await find('d.jsonl', jsonl, 'content')).at).toEqual([]);
  });

  test('a word behind what is shown of a cell is found', async () => {
    const found = await find('d.txt', `first\n${'x'.repeat(5_000)} needle\n`, 'needle');
    expect(found.at).toEqual([1]);
    expect(String(found.rows[0]?.[0]).length).toBeLessThan(2_100);
  });

  test('it ends with the last row that was asked for, and goes on from there', async () => {
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

  test('of a file that is larger than one look the beginning is looked through, and it says so', async () => {
    const line = `${'x'.repeat(1023)}\n`;
    const found = await find('d.txt', `needle\n${line.repeat(65 * 1024)}needle\n`, 'needle');
    expect(found).toMatchObject({ at: [0], is_whole: false, next_offset: null });
    expect(found.rows_read).toBeGreaterThan(60_000);
    expect(found.rows_read).toBeLessThan(65 * 1024);
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

  test('Parquet of many rows is looked through further than one page of them', async () => {
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

test('whoever may read a dataset finds its rows, in a process of its own', async () => {
  const server = await testServer();
  const { create, upload } = assetCalls(server);
  const [ada, eve] = [await server.signUp(), await server.signUp()];
  const id = await create(ada, { title: 'Facts' });
  await upload(ada, id, 'd.csv', 'name\nrye\nspelt\n');
  const search = (query: { path: string; text: string; limit?: number }, as = ada) =>
    server.request(searchRows, { params: { id }, query }, { as });
  expect(await search({ path: 'd.csv', text: ' SPELT ' })).toMatchObject({ rows: [['spelt']], at: [1] });
  await expect(search({ path: 'd.csv', text: ' ' })).rejects.toThrow('text is required');
  await expect(search({ path: 'd.csv', text: 'rye' }, eve)).rejects.toMatchObject({ status: 404 });
  await upload(ada, id, 'd.bin', 'rye');
  await expect(search({ path: 'd.bin', text: 'rye' })).rejects.toThrow(/Rows can be shown of csv/);
});
