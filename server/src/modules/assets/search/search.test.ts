import { createAsset, deleteAsset, listAssets } from '@bakehouse/contract/assets';
import { SEARCH_RESULTS_MAX, search } from '@bakehouse/contract/search';
import { type CompiledQuery, Kysely, PostgresDialect, sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../../platform/db/database.ts';
import type { DB } from '../../../platform/db/schema.generated.ts';
import { type TestServer, type TestUser, testServer } from '../../../testing/test-server.ts';
import { insertStarter } from '../../deployments/testing/test-models.ts';
import { listAssets as listRows } from './list-queries.ts';
import { findMatching, findSimilar } from './search-queries.ts';

let server: TestServer;
let ada: TestUser;
let bob: TestUser;

beforeAll(async () => {
  server = await testServer();
  [ada, bob] = [await server.signUp('Ada'), await server.signUp('Bob')];
});

function create(user: TestUser, title: string, words: object = {}): Promise<string> {
  const body = { dataset_type: 'RAW', title, user_id: user.userId, ...words } as const;
  return server.request(createAsset, { body }, { as: user });
}

const find = (query: string, as = ada) => server.request(search, { query: { query } }, { as });
const names = async (query: string, as = ada) => (await find(query, as)).results.map(({ name }) => name);

test('finds own things and starter models by name, id, family and tag, letter case aside', async () => {
  const rye = await create(ada, 'Rye questions', { tags: ['Sourdough', 'text-generation'] });
  const llama = await create(ada, 'Tuned', { dataset_type: 'MODEL', base_model_type: 'llama3' });
  const { assetId: starter } = await insertStarter(server.services, 'crumb');
  await create(bob, 'Rye of Bob');

  expect(await find('RYE')).toEqual({
    results: [
      {
        kind: 'dataset',
        id: rye,
        name: 'Rye questions',
        family: '',
        tags: ['Sourdough', 'text-generation'],
        is_starter: false,
      },
    ],
    similar: false,
  });
  expect(await names('dough')).toEqual(['Rye questions']);
  expect(await names(rye.slice(3, 20).toUpperCase())).toEqual(['Rye questions']);
  expect((await find('llama')).results).toMatchObject([{ kind: 'model', id: llama, family: 'llama' }]);
  expect((await find('starter mod')).results).toMatchObject([
    { kind: 'model', id: starter, is_starter: true },
  ]);
  expect(await names('  rye  ')).toEqual(['Rye questions']);
  expect(await names('_')).toEqual([]);
  expect(await names('%')).toEqual([]);
  expect(await names('')).toEqual(['Starter Model', 'Tuned', 'Rye questions']);
  expect(await names('rye', bob)).toEqual(['Rye of Bob']);

  await server.send(deleteAsset, { params: { id: rye } }, { as: ada });
  expect(await names('rye')).toEqual([]);
  await expect(find('x'.repeat(201))).rejects.toMatchObject({ status: 400 });
});

test('whole names come first, then the newest, and twelve at most', async () => {
  const cy = await server.signUp('Cy');
  await create(cy, 'Wheat');
  await create(cy, 'Tagged', { tags: ['wheat'] });
  for (let n = 1; n <= 15; n++) await create(cy, `Wheat batch ${n}`);
  const found = await names('wheat', cy);
  expect(found).toHaveLength(SEARCH_RESULTS_MAX);
  expect(found.slice(0, 4)).toEqual(['Tagged', 'Wheat', 'Wheat batch 15', 'Wheat batch 14']);
});

test('a misspelt word finds what is alike, only where nothing has it', async () => {
  const di = await server.signUp('Di');
  await create(di, 'Old', { tags: ['transformers'] });
  await create(di, 'Answers of llama');
  await create(di, 'Source code');
  expect(await find('trasnformers', di)).toMatchObject({ results: [{ name: 'Old' }], similar: true });
  expect(await find('lama', di)).toMatchObject({ results: [{ name: 'Answers of llama' }] });
  expect(await find('LLLama', di)).toMatchObject({ results: [{ name: 'Answers of llama' }], similar: true });
  expect(await find('sourdough', di)).toEqual({ results: [], similar: false });
  expect(await find('trasnformers', bob)).toEqual({ results: [], similar: false });
});

test('lists search families too', async () => {
  const ed = await server.signUp('Ed');
  await create(ed, 'Tuned', { dataset_type: 'MODEL', base_model_type: 'qwen' });
  const query = { types: 'MODEL', owner: ed.userId, search: 'QWEN' } as const;
  const { datasets } = await server.request(listAssets, { query }, { as: ed });
  expect(datasets).toMatchObject([{ title: 'Tuned', family: 'qwen' }]);
});

describe('of many', () => {
  const logged: CompiledQuery[] = [];
  let flo: TestUser;
  let db: Database;
  beforeAll(async () => {
    flo = await server.signUp('Flo');
    await sql`
      insert into assets (owner_user_id, dataset_type, title, category, details, tags)
      select (array[${flo.userId}, ${bob.userId}])[1 + n % 2], 'RAW', 'Loaves of rye, batch ' || n, '', '',
        array['example', case when n = 2 then 'Сурдо закваска' else 'bread' end]
      from generate_series(0, 19999) n`.execute(server.services.db);
    await sql`vacuum analyze assets`.execute(server.services.db);
    db = new Kysely<DB>({
      dialect: new PostgresDialect({ pool: server.services.pool }),
      log: ({ query }) => void logged.push(query),
    });
  });
  const list = (words: string) => {
    const page = { sort: 'updated', cursor: null, limit: 50 } as const;
    const whose = { userId: flo.userId, type: 'RAW', includeStarter: false } as const;
    return listRows(db, { ...whose, ...page, search: words });
  };
  const match = (words: string) => findMatching(db, { userId: flo.userId, words, limit: SEARCH_RESULTS_MAX });
  /** What the plan of the last query says, with how often each part ran. */
  async function plan(): Promise<string> {
    const query = logged.findLast(({ sql: text }) => text.includes('search_text'));
    if (!query) throw new Error('Nothing was searched.');
    const { rows } = await server.services.db.executeQuery<Record<'QUERY PLAN', string>>({
      ...query,
      sql: `explain (analyze, timing off) ${query.sql}`,
    });
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  }
  const byIndex = /Bitmap Index Scan on assets_by_trigrams .*\(actual rows=(\d+)/;

  test('what is rare is found by an index that holds what this owner has', async () => {
    expect(await list('batch 1990')).toHaveLength(6);
    const [, rows] = byIndex.exec(await plan()) ?? [];
    // Of the same rows Bob has as many, and one more of each has the same trigrams in another order.
    expect(Number(rows)).toBe(7);
    expect(await match('batch 1990')).toHaveLength(6);
    expect(await plan()).toMatch(byIndex);
    expect(await plan()).not.toContain('Seq Scan on assets');
  });

  test('what is frequent is found among the newest, without the index', async () => {
    expect(await list('RYE')).toHaveLength(50);
    expect(await plan()).toMatch(/Limit .*\(never executed\)/);
  });

  test('letters of any script are found by the index', async () => {
    expect(await list('закваска')).toHaveLength(1);
    expect(await plan()).toMatch(byIndex);
  });

  test('one or two letters are looked for without it', async () => {
    expect(await match('84')).toHaveLength(SEARCH_RESULTS_MAX);
    expect(await list('ба')).toEqual([]);
  });

  test('what is only alike is looked for among the newest', async () => {
    const found = await findSimilar(db, { userId: flo.userId, words: 'baatch 19999', limit: 12 });
    expect(found).toHaveLength(12);
    expect(await plan()).not.toContain('Seq Scan on assets');
  });
});
