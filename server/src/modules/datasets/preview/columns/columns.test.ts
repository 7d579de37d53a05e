import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import * as contract from '@bakehouse/contract/assets';
import { describeColumns, type FileColumns, listFileVersions } from '@bakehouse/contract/data-files';
import { DuckDBInstance } from '@duckdb/node-api';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { realPython } from '../../../../testing/real-python.ts';
import { effort } from '../../../../testing/soak.ts';
import { temporaryFolder } from '../../../../testing/temporary-folder.ts';
import { type TestServer, type TestUser, testServer } from '../../../../testing/test-server.ts';
import { profiledFile } from '../../testing/profiled-file.ts';
import { readColumns } from './read-columns.ts';

const folder = await temporaryFolder();

/** Returns the statistics of a file with this name and content. */
async function look(name: string, content: string | Buffer): Promise<FileColumns> {
  const localPath = path.join(folder, name);
  await writeFile(localPath, content);
  return readColumns(await profiledFile(localPath, name));
}

const fixture = (name: string) => readFile(path.join(import.meta.dirname, '../fixtures', name));

describe('statistics of the columns of a file', () => {
  test('csv: recognises numbers and skips unreadable lines', async () => {
    const found = await look(
      'd.csv',
      'price,code,note\n3.5,007,ok\n-1,012,ok\n1e2,7,\n,9, \nbroken\n10,10,"long, ""quoted"""\n',
    );
    expect(found).toMatchObject({ rows: 5, is_whole: true });
    const [price, code, note] = found.columns;
    expect(price).toMatchObject({ name: 'price', type: 'number', filled: 4, distinct: 4, lengths: null });
    expect(price?.numbers).toMatchObject({ min: -1, max: 100, mean: 28.125, std: expect.closeTo(48.13, 2) });
    // A leading zero makes it an identifier.
    expect(code).toMatchObject({ type: 'text', filled: 5, lengths: { min: 1, max: 3 } });
    expect(note).toMatchObject({
      type: 'text',
      filled: 3,
      distinct: 2,
      frequent: [{ value: 'ok', count: 2 }],
    });
  });

  test('reports that statistics of large numbers are rounded', async () => {
    const lines = '{"id": 9007199254740993, "n": 9007199254740991}\n{"id": 1, "n": 1}\n';
    const { columns } = await look('d.jsonl', lines);
    expect(columns.map(({ numbers }) => numbers?.rounded)).toEqual([true, undefined]);
  });

  test('treats a hash that looks like an overflowing number as text', async () => {
    const { columns } = await look('d.csv', 'hash,n\n3f2a9c1,1e400\n7e12345,2\n');
    expect(columns.map(({ type }) => type)).toEqual(['text', 'text']);
    const json = await look('d.jsonl', '{"n": 1e400}\n{"n": 2}\n');
    expect(json.columns[0]).toMatchObject({ type: 'number', filled: 2, numbers: { min: 2, max: 2 } });
  });

  test('jsonl: counts each type, even if a column has several', async () => {
    const lines = [
      { id: 1, tags: ['a', 'b'], meta: { x: 1 }, good: true, any: 1 },
      { id: 2, tags: [], meta: { x: 1 }, good: false, any: 'one', late: 'yes' },
    ];
    const { columns } = await look('d.jsonl', lines.map((line) => JSON.stringify(line)).join('\nno JSON\n'));
    expect(columns.map(({ name, type, filled }) => [name, type, filled])).toEqual([
      ['id', 'number', 2],
      ['tags', 'list', 2],
      ['meta', 'object', 2],
      ['good', 'boolean', 2],
      ['any', 'mixed', 2],
      ['late', 'text', 1],
    ]);
    expect(columns[1]).toMatchObject({ lengths: { min: 0, max: 2, mean: 1 } });
    expect(columns[2]).toMatchObject({ distinct: 1, frequent: [{ value: '{"x":1}', count: 2 }] });
  });

  test('json and txt', async () => {
    const list = await look('d.json', '[{"a": "x"}, {"a": null}, 5, {"a": "x"}]');
    expect(list).toMatchObject({ rows: 3, columns: [{ name: 'a', filled: 2, distinct: 1 }] });
    const text = await look('d.txt', 'one\n\nthree\n');
    expect(text).toMatchObject({ rows: 3, columns: [{ name: 'text', filled: 2, lengths: { max: 5 } }] });
    expect(await look('e.csv', 'q,a\n')).toMatchObject({ rows: 0, columns: [{ type: 'empty' }, {}] });
  });

  test('reads gzip files', async () => {
    const packed = gzipSync('{"q": "x", "n": 1}\n{"q": "y"}\n');
    expect(await look('d.jsonl.gz', packed)).toMatchObject({
      rows: 2,
      columns: [
        { name: 'q', type: 'text', distinct: 2 },
        { name: 'n', type: 'number', filled: 1 },
      ],
    });
  });

  test('parquet', async () => {
    const found = await look('d.parquet', await fixture('snappy.parquet'));
    expect(found.is_whole).toBe(true);
    expect(found.rows).toBeGreaterThan(1);
    expect(found.columns.every(({ filled }) => filled > 0)).toBe(true);
  });

  test('puts every number into exactly one bin, in ascending order', async () => {
    const columns: (number | string)[][] = [
      [1, 2, 2, 3],
      [5, 5],
      Array.from({ length: 1000 }, (_, at) => at * 7),
      Array.from({ length: 1000 }, (_, at) => at / 7),
      ['-1.5e308', '1.5e308', 0],
      [0, '9007199254740993', 12],
    ];
    const lines = Array.from({ length: 1000 }, (_, at) => columns.map((numbers) => numbers[at] ?? '').join());
    const found = await look('n.csv', `${columns.map((_, at) => `c${at}`).join()}\n${lines.join('\n')}\n`);
    const [few, same, ...spread] = found.columns.map(({ histogram }) => histogram ?? []);
    expect(few).toEqual([
      { from: 1, to: 1, count: 1 },
      { from: 2, to: 2, count: 2 },
      { from: 3, to: 3, count: 1 },
    ]);
    expect(same).toEqual([{ from: 5, to: 5, count: 2 }]);
    for (const [at, bins] of spread.entries()) {
      const numbers = columns.slice(2)[at]?.map(Number) ?? [];
      expect(bins.length).toBeLessThanOrEqual(12);
      expect(bins.reduce((sum, { count }) => sum + count, 0)).toBe(numbers.length);
      expect(bins[0]?.from).toBe(numbers[0]);
      expect(bins.at(-1)?.to).toBe(Math.max(...numbers));
    }
  });

  test('counts distinct values exactly or estimates them, but never reports more than rows', async () => {
    const many = Array.from({ length: 1500 }, (_, at) => `v${at}\nv0`).join('\n');
    expect(await look('many.txt', many)).toMatchObject({
      columns: [{ distinct: 1_500, distinct_is_more: false, frequent: [] }],
    });
    // There are too many cells for exact counts. Every value is distinct, so an estimate may exceed the
    // number of rows.
    const different = Array.from({ length: 45 }, (_, at) => `range * 64 + ${at} AS c${at}`);
    const large = path.join(folder, 'large.parquet');
    const database = await (await DuckDBInstance.create(':memory:')).connect();
    await database.run(`COPY (SELECT ${different.join(', ')} FROM range(100_000)) TO '${large}'`);
    const { columns } = await readColumns(await profiledFile(large, 'large.parquet'));
    for (const column of columns) {
      expect(column).toMatchObject({ filled: 100_000, distinct_is_more: true });
      expect(column.distinct).toBeLessThanOrEqual(100_000);
    }
    const long = 'x'.repeat(500);
    expect(await look('long.txt', `${long}1\n${long}2\n${long}2\n`)).toMatchObject({
      columns: [{ distinct: 2, frequent: [{ value: `${'x'.repeat(100)}…`, count: 2 }] }],
    });
  });
});

describe('over HTTP', () => {
  let server: TestServer;
  let ada: TestUser;
  let id: string;
  beforeAll(async () => {
    server = await testServer({ config: realPython });
    ada = await server.signUp('Ada');
    const body = { dataset_type: 'RAW', title: 'rows', user_id: ada.userId } as const;
    id = await server.request(contract.createAsset, { body }, { as: ada });
  });

  async function upload(name: string, content: string): Promise<string> {
    const form = new FormData();
    form.append('data_file', new Blob([content]), name);
    const headers = { 'x-api-key': ada.apiKey };
    const url = `${server.url}/api/v1/asset/${id}/upload`;
    const answer = await fetch(url, { method: 'POST', headers, body: form });
    expect(answer.status).toBe(200);
    return ((await answer.json()) as { revision_id: string }).revision_id;
  }
  const columns = (query: { path: string; revision_id?: string }, as = ada) =>
    server.request(describeColumns, { params: { id }, query }, { as });

  test('reads all rows of a large file', async () => {
    const rows = effort({ usual: 100_000, soak: 1_000_000 });
    await upload('large.csv', `q,n\n${'a question that is asked often,5\n'.repeat(rows)}`);
    const found = await columns({ path: 'large.csv' });
    expect(found).toMatchObject({ rows, is_whole: true });
    expect(found.columns[0]?.frequent).toEqual([{ value: 'a question that is asked often', count: rows }]);
  }, 120_000);

  test('describes each revision separately, and caches statistics by file content', async () => {
    const first = await upload('d.csv', 'q\none\n');
    await upload('other.txt', 'x\n');
    const second = await upload('d.csv', 'q\none\ntwo\n');
    const listed = (query: { limit?: number; cursor?: string }) =>
      server.request(listFileVersions, { params: { id }, query: { path: 'd.csv', ...query } }, { as: ada });
    const { versions, next_cursor } = await listed({});
    expect(next_cursor).toBeNull();
    expect(versions.map(({ revision_id }) => revision_id)).toEqual([second, first]);
    const newest = await listed({ limit: 1 });
    expect(newest.versions).toEqual(versions.slice(0, 1));
    expect(await listed({ limit: 1, cursor: newest.next_cursor ?? '' })).toEqual({
      versions: versions.slice(1),
      next_cursor: null,
    });
    await expect(listed({ cursor: id })).rejects.toMatchObject({ status: 400 });
    expect(versions[0]?.number).toBe((versions[1]?.number ?? 0) + 2);
    expect((await columns({ path: 'd.csv' })).rows).toBe(2);
    expect((await columns({ path: 'd.csv', revision_id: first })).rows).toBe(1);
    const rows = async (revision_id: string) =>
      (
        await server.request(
          contract.previewFile,
          { params: { id }, query: { path: 'd.csv', revision_id } },
          { as: ada },
        )
      ).total_rows;
    expect([await rows(first), await rows(second)]).toEqual([1, 2]);
    // A file with the same bytes gets the cached statistics (77 rows here) without being read.
    await sql`update column_statistics set statistics = jsonb_set(statistics, '{rows}', '77')`.execute(
      server.services.db,
    );
    await upload('copy.csv', 'q\none\ntwo\n');
    expect((await columns({ path: 'copy.csv' })).rows).toBe(77);
    await sql`delete from column_statistics`.execute(server.services.db);
    expect((await columns({ path: 'copy.csv' })).rows).toBe(2);
  });

  test('deletes statistics together with the bytes', async () => {
    await upload('gone.txt', 'soon gone\n');
    await columns({ path: 'gone.txt' });
    const { db } = server.services;
    const [blob] = await db
      .selectFrom('asset_files')
      .select('sha256')
      .where('path', '=', 'gone.txt')
      .execute();
    const kept = () =>
      db
        .selectFrom('column_statistics')
        .where('sha256', '=', blob?.sha256 ?? '')
        .selectAll()
        .execute();
    expect(await kept()).toHaveLength(1);
    await sql`delete from asset_files where sha256 = ${blob?.sha256}`.execute(db);
    await sql`delete from blobs where sha256 = ${blob?.sha256}`.execute(db);
    expect(await kept()).toEqual([]);
  });

  test('returns 404 for another user and 400 for a file without rows', async () => {
    const bob = await server.signUp('Bob');
    await expect(columns({ path: 'd.csv' }, bob)).rejects.toMatchObject({ status: 404 });
    await expect(columns({ path: 'none.csv' })).rejects.toThrow('There is no file none.csv');
    await upload('picture.png', 'no rows');
    await expect(columns({ path: 'picture.png' })).rejects.toMatchObject({ status: 400 });
  });

  test('a page with a single row includes the whole row as JSON', async () => {
    const long = 'long '.repeat(2000);
    await upload('whole.jsonl', `{"2":"b","1":"${long}","list":[1,{"a":null}]}\n{"1":"x"}\n`);
    const page = (limit: number, offset = 0) =>
      server.request(
        contract.previewFile,
        { params: { id }, query: { path: 'whole.jsonl', limit, offset } },
        { as: ada },
      );
    expect((await page(2)).whole_row).toBeNull();
    expect((await page(1)).whole_row).toBe(`{"2":"b","1":"${long}","list":[1,{"a":null}]}`);
    expect((await page(1, 1)).whole_row).toBe('{"1":"x"}');
  });
});
