import { randomBytes } from 'node:crypto';
import { filesCopyStatus } from '@bakehouse/contract/asset-files';
import * as contract from '@bakehouse/contract/assets';
import { type CompiledQuery, Kysely, PostgresDialect, sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import type { DB } from '../../../platform/db/schema.generated.ts';
import { findStoredBytes } from '../../../platform/storage/owner-queries.ts';
import { type TestServer, type TestUser, testServer } from '../../../testing/test-server.ts';
import { getAsset } from '../assets.ts';
import { collectBlobsJob } from '../jobs/collect-blobs.ts';
import { purgeAsset } from '../purge-asset.ts';
import { markDeleted } from '../queries.ts';
import { readRevision } from '../read-revision.ts';
import { listAssets } from '../search/list-queries.ts';
import { getInfo, listTree } from './files.ts';

const FILES = 12_000;
const sha256 = randomBytes(32).toString('hex');

let server: TestServer;
let ada: TestUser;

beforeAll(async () => {
  server = await testServer();
  ada = await server.signUp('Ada');
  await server.services.db.insertInto('blobs').values({ sha256, size_bytes: 7n }).execute();
});

/** Creates an asset with many files, each from its own revision. */
async function largeAsset(): Promise<string> {
  const { db } = server.services;
  const id = await server.request(
    contract.createAsset,
    { body: { dataset_type: 'RAW', title: 'Large', user_id: ada.userId } },
    { as: ada },
  );
  await sql`insert into revisions (asset_id, number) select ${id}, n from generate_series(1, ${FILES}) n`.execute(
    db,
  );
  await sql`
    insert into asset_files (asset_id, path, first_number, sha256, size_bytes)
    select ${id}, case when n % 2 = 0 then 'even' else 'odd' end || '/' || lpad(n::text, 6, '0'), n, ${sha256}, 7
    from generate_series(1, ${FILES}) n`.execute(db);
  await sql`
    update assets set file_count = ${FILES}, size_bytes = ${FILES * 7},
      revision_id = (select id from revisions where asset_id = ${id} and number = ${FILES})
    where id = ${id}`.execute(db);
  return id;
}

/** Makes the planner expect small assets, because most assets are small. */
async function makeSmallAssets(): Promise<void> {
  const { db } = server.services;
  await sql`
    with small as (
      insert into assets (owner_user_id, dataset_type, title, category, details)
      select ${ada.userId}, 'RAW', 'Small', '', '' from generate_series(1, 3000) returning id
    )
    insert into asset_files (asset_id, path, first_number, sha256, size_bytes)
    select id, n || '.csv', 1, ${sha256}, 7 from small, generate_series(1, 5) n`.execute(db);
}

/** Returns the number of table and index blocks that a query reads. */
async function blocksOf(db: Kysely<DB>, query: CompiledQuery): Promise<number> {
  const explained = { ...query, sql: `explain (analyze, buffers, format json) ${query.sql}` };
  const { rows } = await db.executeQuery<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(explained);
  const plan = rows[0]?.['QUERY PLAN'][0].Plan;
  return (plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0);
}

async function rowsOf(id: string): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    select (select count(*) from asset_files where asset_id = ${id})
      + (select count(*) from revisions where asset_id = ${id}) + (select count(*) from assets where id = ${id})
      as count`.execute(server.services.db);
  return Number(rows[0]?.count);
}

describe('an asset with very many files', () => {
  test('is listed page by page', async () => {
    const id = await largeAsset();
    const asset = await server.request(contract.getAsset, { params: { id } }, { as: ada });
    expect(asset.files).toHaveLength(contract.FIRST_FILES_MAX);
    expect(asset.file_count).toBe(FILES);

    const seen = asset.files.map((file) => file.path);
    for (let cursor = asset.next_files_cursor; cursor; ) {
      const page = await server.request(
        contract.assetInfo,
        { params: { id }, query: { cursor } },
        { as: ada },
      );
      seen.push(...page.files.map((file) => file.path));
      expect(page).toMatchObject({ file_count: FILES, size_bytes: FILES * 7 });
      cursor = page.next_cursor;
    }
    expect(new Set(seen).size).toBe(FILES);

    const query = { path: 'odd/', limit: 3 };
    const folder = await server.request(contract.assetInfo, { params: { id }, query }, { as: ada });
    expect(folder).toMatchObject({ path: 'odd', file_count: FILES / 2, size_bytes: (FILES / 2) * 7 });
    expect(folder.files.map((file) => file.path)).toEqual(['odd/000001', 'odd/000003', 'odd/000005']);
    const begun = { prefix: 'odd/0000', limit: 2 };
    const found = await server.request(contract.assetInfo, { params: { id }, query: begun }, { as: ada });
    expect(found.files.map((file) => file.path)).toEqual(['odd/000001', 'odd/000003']);
    const next = { ...begun, cursor: found.next_cursor ?? '' };
    const rest = await server.request(contract.assetInfo, { params: { id }, query: next }, { as: ada });
    expect(rest.files.map((file) => file.path)).toEqual(['odd/000005', 'odd/000007']);
    const none = await server.request(
      contract.assetInfo,
      { params: { id }, query: { prefix: 'odd/x' } },
      { as: ada },
    );
    expect(none.files).toEqual([]);
    const copied = await server.request(
      filesCopyStatus,
      { params: { id }, query: { limit: 2 } },
      { as: ada },
    );
    expect(copied).toMatchObject({
      status: 'COMPLETED',
      progress: 100,
      files_copy_status: seen
        .slice(0, 2)
        .map((path) => ({ file_path: path, size_bytes: 7, status: 'COMPLETED' })),
    });
    expect(copied.next_cursor).not.toBeNull();
    const wrong = server.request(contract.assetInfo, { params: { id }, query: { cursor: 'x' } }, { as: ada });
    await expect(wrong).rejects.toThrow('cursor must be the next_cursor of an earlier page of this list');
    // An empty cursor starts at the beginning, as in other lists.
    const emptied = { params: { id }, query: { limit: 2, cursor: '' } };
    const first = await server.request(contract.assetInfo, emptied, { as: ada });
    expect(first.files.map(({ path }) => path)).toEqual(seen.slice(0, 2));
    expect((await server.request(contract.assetTree, emptied, { as: ada })).entries).toHaveLength(2);
    expect(await server.request(filesCopyStatus, emptied, { as: ada })).toEqual(copied);
  });

  test('is read only as far as a page needs, even with outdated statistics', async () => {
    const { db, pool } = server.services;
    // Analyze before the large asset exists, so that the statistics do not know it.
    await makeSmallAssets();
    await sql`analyze asset_files`.execute(db);
    await sql`alter table asset_files set (autovacuum_enabled = off)`.execute(db);
    const assetId = await largeAsset();
    const asked: CompiledQuery[] = [];
    const logged = new Kysely<DB>({
      dialect: new PostgresDialect({ pool }),
      // Postgres cannot explain the statements that begin and end a transaction.
      log: ({ query }) => {
        if (query.sql.startsWith('select') || query.sql.startsWith('with')) asked.push(query);
      },
    });
    const caller = { kind: 'user', userId: ada.userId, isOperator: false } as const;
    const ctx = { ...server.services, db: logged, caller, requestId: 'r', idempotencyKey: null };
    const first = await getAsset(ctx, { assetId });
    const cursor = first.next_files_cursor ?? undefined;
    const next = await getInfo(ctx, { assetId, path: '', limit: 500, cursor });
    expect([next.files.length, next.file_count, next.size_bytes]).toEqual([500, FILES, FILES * 7]);
    const tree = await listTree(ctx, { assetId, path: '', limit: 10, cursor: undefined });
    expect(tree.entries).toHaveLength(2);
    const folder = { assetId, path: 'odd', limit: 500 };
    const counted = asked.length;
    const begun = await getInfo(ctx, { ...folder, cursor: undefined });
    asked.length = counted;
    const goesOn = await getInfo(ctx, { ...folder, cursor: begun.next_cursor ?? undefined });
    expect([goesOn.files[0]?.path, goesOn.file_count, goesOn.size_bytes]).toEqual([
      'odd/001001',
      FILES / 2,
      (FILES / 2) * 7,
    ]);
    for (const query of [...asked]) expect(await blocksOf(db, query), query.sql).toBeLessThan(FILES / 100);
  });

  test('finds required files without reading the whole list', async () => {
    const id = await largeAsset();
    const { db } = server.services;
    const others = ['config.json', 'weights.safetensors', 'deep/weights.gguf'];
    await sql`
      insert into asset_files (asset_id, path, first_number, sha256, size_bytes)
      select ${id}, unnest(${others}::text[]), ${FILES}, ${sha256}, 7`.execute(db);
    const wanted = { assetId: id, userId: ada.userId };
    const read = async (which: { paths?: string[]; top?: boolean }) =>
      (await readRevision(db, { ...wanted, ...which })).files.map(({ path }) => path);
    expect(await read({ paths: ['odd/000001', 'config.json', 'none'] })).toEqual([
      'config.json',
      'odd/000001',
    ]);
    expect(await read({ top: true })).toEqual(['config.json', 'deep/weights.gguf', 'weights.safetensors']);
  });

  test("lists a folder's children page by page, without reading the files below them", async () => {
    const id = await largeAsset();
    const { db } = server.services;
    const others = ['README.md', 'a b/c/d.txt', 'a b/e.txt', 'even.txt', 'even/x/deep.txt', 'odd0'];
    await sql`
      insert into asset_files (asset_id, path, first_number, sha256, size_bytes)
      select ${id}, unnest(${others}::text[]), ${FILES + 1}, ${sha256}, 7`.execute(db);
    const tree = (query: { path?: string; limit?: number; cursor?: string }) =>
      server.request(contract.assetTree, { params: { id }, query }, { as: ada });
    const names = (page: Awaited<ReturnType<typeof tree>>) =>
      page.entries.map(({ type, path }) => (type === 'folder' ? `${path}/` : path));
    const root = ['README.md', 'a b/', 'even.txt', 'even/', 'odd/', 'odd0'];
    expect(names(await tree({}))).toEqual(root);
    const seen: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await tree({ limit: 1, ...(cursor && { cursor }) });
      seen.push(...names(page));
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(root);
    expect(names(await tree({ path: '/a b/' }))).toEqual(['a b/c/', 'a b/e.txt']);
    const even = await tree({ path: 'even', limit: 2 });
    expect(names(even)).toEqual(['even/000002', 'even/000004']);
    expect(even.entries[0]).toMatchObject({ type: 'file', size_bytes: 7, sha256 });
    expect(names(await tree({ path: 'even', limit: 2, cursor: even.next_cursor ?? '' }))).toEqual([
      'even/000006',
      'even/000008',
    ]);
    await expect(tree({ path: 'eve' })).rejects.toThrow('There is no folder eve');
    await expect(tree({ path: 'even.txt' })).rejects.toThrow('There is no folder even.txt');
  });

  test('disappears immediately for its owner, and is deleted from the database in pieces', async () => {
    const id = await largeAsset();
    expect((await server.send(contract.deleteAsset, { params: { id } }, { as: ada })).status).toBe(204);
    await expect(server.request(contract.getAsset, { params: { id } }, { as: ada })).rejects.toMatchObject({
      status: 404,
    });
    const { datasets } = await server.request(
      contract.listAssets,
      { query: { types: 'RAW', owner: ada.userId } },
      { as: ada },
    );
    expect(datasets.map((asset) => asset.dataset_id)).not.toContain(id);

    const left = await rowsOf(id);
    expect(left).toBeGreaterThan(FILES);
    expect(left).toBeLessThan(2 * FILES);
    await collectBlobsJob.run(server.services, {}, AbortSignal.timeout(60_000));
    expect(await rowsOf(id)).toBe(0);
  });

  test('is deleted by two concurrent calls without a conflict', async () => {
    const id = await largeAsset();
    const { db } = server.services;
    await db.transaction().execute((tx) => markDeleted(tx, id));
    const work = async () => {
      let before = await rowsOf(id);
      while (!(await purgeAsset(db, { assetId: id, pieceRows: 500 }))) before -= 500;
      return before;
    };
    await Promise.all([work(), work()]);
    expect(await rowsOf(id)).toBe(0);
  });
});

test('a page of assets with the starter models reads no more rows than it returns', async () => {
  const { db } = server.services;
  await sql`
    insert into assets (owner_user_id, dataset_type, title, category, details, updated_at)
    select ${ada.userId}, 'MODEL', 'Model ' || n, '', '', now() - n * interval '1 minute'
    from generate_series(1, 5000) n`.execute(db);
  await sql`analyze assets`.execute(db);
  const asked: CompiledQuery[] = [];
  const logged = new Kysely<DB>({
    dialect: new PostgresDialect({ pool: server.services.pool }),
    log: ({ query }) => void asked.push(query),
  });
  const filter = {
    userId: ada.userId,
    type: 'MODEL',
    whose: ['own', 'starter', 'published', 'shared', 'granted'],
    search: '',
    cursor: null,
  } as const;
  for (const sort of ['updated', 'title', 'size'] as const) {
    expect(await listAssets(logged, { ...filter, sort, limit: 10 })).toHaveLength(10);
  }
  expect(asked).toHaveLength(3);
  for (const query of [...asked]) {
    const { rows } = await db.executeQuery<Record<'QUERY PLAN', string>>({
      ...query,
      sql: `explain (analyze, costs off) ${query.sql}`,
    });
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).not.toContain('Seq Scan on assets');
    // EXPLAIN reports the rows of each step. There are 5000 assets, but no step may read more than one page.
    const given = [...plan.matchAll(/actual [^)]*rows=(\d+)/g)].map(([, count]) => Number(count));
    expect(Math.max(...given), plan).toBeLessThanOrEqual(10);
  }
});

test('counts the storage of large assets', async () => {
  expect(await findStoredBytes(server.services.db, ada.userId)).toBe(7n);
});
