import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { type TestUser, testServer } from '../../../testing/test-server.ts';
import { namespaceOf } from '../../assets/repositories/namespace.ts';
import { assetCalls } from '../../assets/testing/asset-calls.ts';

const server = await testServer();
const { create, upload, uploadAt, get } = assetCalls(server);

let ada: TestUser;
let one: string;
let two: string;
beforeAll(async () => {
  ada = await server.signUp('Ada');
  one = await create(ada, { title: 'loaves' });
  await upload(
    ada,
    one,
    'loaves.csv',
    'flour,minutes,note\nrye,40,"dark, dense"\nwheat,25,\nspelt,30,Rye-like\nrye,,old\n',
  );
  two = await create(ada, { title: 'two' });
  await upload(
    ada,
    two,
    'test.jsonl',
    '{"q": "Hi", "tags": ["a", "b"], "meta": {"n": 1}}\n{"q": "Bye", "tags": []}\n',
  );
  const fixture = path.join(import.meta.dirname, '../preview/fixtures/zstd.parquet');
  await uploadAt(ada, two, 'train.parquet', new Uint8Array(await readFile(fixture)));
});

// oxlint-disable-next-line typescript/no-explicit-any -- nine shapes, each looked into by its test
const bodyOf = (text: string): any => JSON.parse(text);

async function ask(place: string, query: Record<string, string>, as = ada) {
  const url = `${server.url}/hub/datasets-server/${place}?${new URLSearchParams(query).toString()}`;
  const answer = await fetch(url, { headers: { authorization: `Bearer ${as.apiKey}` } });
  return {
    status: answer.status,
    code: answer.headers.get('x-error-code'),
    body: bodyOf(await answer.text()),
  };
}

test('a dataset of one file is the split train, others are called by their tables', async () => {
  expect((await ask('splits', { dataset: one })).body).toEqual({
    splits: [{ dataset: one, config: 'default', split: 'train' }],
    pending: [],
    failed: [],
  });
  const { body } = await ask('splits', { dataset: two });
  expect(body.splits.map(({ split }: { split: string }) => split)).toEqual(['test', 'train']);
  expect((await ask('is-valid', { dataset: one })).body).toEqual({
    ...{ preview: true, viewer: true, search: true, filter: true, statistics: true },
  });
});

test('rows come with their types and places', async () => {
  const page = { dataset: one, config: 'default', split: 'train', offset: '1', length: '2' };
  const { body } = await ask('rows', page);
  expect(body).toEqual({
    features: [
      { feature_idx: 0, name: 'flour', type: { dtype: 'string', _type: 'Value' } },
      { feature_idx: 1, name: 'minutes', type: { dtype: 'int64', _type: 'Value' } },
      { feature_idx: 2, name: 'note', type: { dtype: 'string', _type: 'Value' } },
    ],
    rows: [
      { row_idx: 1, row: { flour: 'wheat', minutes: 25, note: null }, truncated_cells: [] },
      { row_idx: 2, row: { flour: 'spelt', minutes: 30, note: 'Rye-like' }, truncated_cells: [] },
    ],
    num_rows_total: 4,
    num_rows_per_page: 100,
    partial: false,
  });
  const nested = (await ask('first-rows', { dataset: two, split: 'test' })).body;
  expect(nested).toMatchObject({ dataset: two, config: 'default', split: 'test', truncated: false });
  expect(nested.rows[0].row).toEqual({ q: 'Hi', tags: ['a', 'b'], meta: { n: 1 } });
  expect(nested.features[1].type).toEqual({ feature: { dtype: 'string', _type: 'Value' }, _type: 'List' });
});

test('search and filter keep the places of rows', async () => {
  const split = { dataset: one, split: 'train' };
  const indexes = ({ body }: Awaited<ReturnType<typeof ask>>) =>
    body.rows.map(({ row_idx: at }: { row_idx: number }) => at);
  const found = await ask('search', { ...split, query: 'RYE' });
  expect(indexes(found)).toEqual([0, 2, 3]);
  expect(found.body.num_rows_total).toBe(3);
  const filtered = { ...split, where: `"minutes" >= 30`, orderby: '"minutes" DESC' };
  expect(indexes(await ask('filter', filtered))).toEqual([0, 2]);
  expect(indexes(await ask('filter', { ...filtered, offset: '1', length: '1' }))).toEqual([2]);
});

test('statistics are told by the type of the column', async () => {
  const { body } = await ask('statistics', { dataset: one, split: 'train' });
  expect(body).toMatchObject({ num_examples: 4, partial: false });
  const [flour, minutes] = body.statistics;
  expect(flour.column_type).toBe('string_text');
  expect(minutes).toMatchObject({
    column_name: 'minutes',
    column_type: 'int',
    column_statistics: { nan_count: 1, nan_proportion: 0.25, min: 25, max: 40, median: 30 },
  });
  expect(minutes.column_statistics.histogram.hist.reduce((a: number, b: number) => a + b)).toBe(3);
});

test('sizes and Parquet files', async () => {
  const { size } = (await ask('size', { dataset: two })).body;
  expect(size.dataset).toMatchObject({ dataset: two, num_rows: 8 });
  expect(size.splits.map(({ num_rows: rows }: { num_rows: number }) => rows)).toEqual([2, 6]);
  const { parquet_files: files } = (await ask('parquet', { dataset: two })).body;
  expect(files).toEqual([expect.objectContaining({ split: 'train', filename: 'train.parquet' })]);
  const { pathname } = new URL(files[0].url);
  const bytes = await fetch(`${server.url}${pathname}`, { headers: { 'x-api-key': ada.apiKey } });
  expect(await bytes.arrayBuffer()).toHaveProperty('byteLength', files[0].size);
});

describe('of a dataset with a file that is cut off', () => {
  const sentence = 'cut.csv.gz is cut off: upload it again.';
  const cut = () => new Uint8Array(gzipSync('a,b\n1,2\n3,4\n').subarray(0, 25));
  let dataset: string;
  beforeAll(async () => {
    dataset = await create(ada, { title: 'cut' });
    await upload(ada, dataset, 'cut.csv.gz', cut());
    await upload(ada, dataset, 'whole.csv', 'a,b\n1,2\n');
  });

  test('the other splits are answered', async () => {
    const { status, body } = await ask('size', { dataset });
    expect(status).toBe(200);
    expect(body.size.dataset).toMatchObject({ num_rows: 1 });
    expect(body.size.splits).toEqual([expect.objectContaining({ split: 'whole' })]);
    expect(body.failed).toEqual([{ dataset, config: 'default', split: 'cut', error: { error: sentence } }]);
    expect((await ask('first-rows', { dataset, split: 'whole' })).body.rows).toHaveLength(1);
    expect((await ask('is-valid', { dataset })).body).toMatchObject({ viewer: true });
  });

  test('its own is refused in words', async () => {
    expect(await ask('first-rows', { dataset, split: 'cut' })).toMatchObject({
      status: 422,
      body: { error: sentence },
    });
    const only = await create(ada, { title: 'only cut' });
    await upload(ada, only, 'cut.csv.gz', cut());
    expect((await ask('is-valid', { dataset: only })).body).toMatchObject({ preview: false, viewer: false });
  });
});

test('a dataset is found by the name of its repository', async () => {
  const { db } = server.services;
  const { name } = await db
    .selectFrom('assets')
    .select('name')
    .where('id', '=', one)
    .executeTakeFirstOrThrow();
  const { owner_username: owner } = await get(ada, one);
  const { body } = await ask('splits', { dataset: `${namespaceOf(owner)}/${name}` });
  expect(body.splits).toHaveLength(1);
});

test('another user’s dataset is not there, nor what is none', async () => {
  const eve = await server.signUp('Eve');
  for (const dataset of [one, 'nobody/nothing', 'x', '../..', crypto.randomUUID()])
    expect(await ask('rows', { dataset, split: 'train' }, eve)).toEqual({
      status: 404,
      code: 'ExternalAuthenticatedError',
      body: { error: 'Dataset not found' },
    });
});

test('whoever has no key is told so', async () => {
  expect(await ask('rows', { dataset: one, split: 'train' }, { ...ada, apiKey: 'wrong' })).toMatchObject({
    status: 401,
    code: 'ExternalUnauthenticatedError',
    body: { error: expect.any(String) },
  });
});

test.each([
  ['rows', { split: 'train' }, 'dataset is required', 'MissingRequiredParameter'],
  ['rows', { dataset: 'ONE' }, 'split is required', 'MissingRequiredParameter'],
  ['rows', { dataset: 'ONE', split: 'none' }, 'There is no split none', 'ResponseNotFound'],
  [
    'rows',
    { dataset: 'ONE', split: 'train', config: 'other' },
    "The only config is 'default'",
    'ResponseNotFound',
  ],
  ['rows', { dataset: 'ONE', split: 'train', length: '101' }, 'length must be at most 100'],
  ['rows', { dataset: 'ONE', split: 'train', offset: 'x' }, 'offset'],
  ['search', { dataset: 'ONE', split: 'train' }, 'query is required', 'MissingRequiredParameter'],
  ['filter', { dataset: 'ONE', split: 'train', where: '"nope" = 1' }, /"nope"/],
  [
    'filter',
    { dataset: 'ONE', split: 'train', where: "1) ; COPY (SELECT 1) TO 'x'; --" },
    /Only queries that read|syntax error/,
  ],
  [
    'filter',
    { dataset: 'ONE', split: 'train', where: "(FROM read_text('/etc/passwd')) IS NULL" },
    /Cannot access|Subquery/,
  ],
] as [string, Record<string, string>, string | RegExp, string?][])(
  '%s of %j is refused as the hub’s dataset server does',
  async (place, query, sentence, expected = 'InvalidParameter') => {
    const asked = query.dataset === 'ONE' ? { ...query, dataset: one } : query;
    const { status, code, body } = await ask(place, asked);
    expect([status, code]).toEqual([expected === 'ResponseNotFound' ? 404 : 422, expected]);
    expect(body).toEqual({ error: expect.stringMatching(sentence) });
  },
);
