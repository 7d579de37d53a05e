import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { claimDue } from '../../platform/leases/leased-table.ts';
import { earlierDatabase } from '../../testing/earlier-database.ts';
import { findBulk, selectBulk } from './bulk-answers.ts';
import { bulkTable } from './bulk-table.ts';

/* Batches and drafts had separate tables before this migration, which moves both into one. */

const id = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;
const at = (seconds: number) => new Date(Date.UTC(2026, 10, 1, 12, 0, seconds));
const { db, upgrade } = await earlierDatabase('0070_bulk_answers.sql');

type Money = {
  id: string;
  held_micro: bigint;
  cost_micro: bigint;
  charged_micro: bigint;
  hold_id: string | null;
};
let before: Money[];

beforeAll(async () => {
  // Disables foreign keys, so no asset or hold is needed.
  await sql
    .raw(
      `insert into users (id, name, username, email) values
        ('ada', 'Ada', 'ada', 'ada@example.com'), ('bob', 'Bob', 'bob', 'bob@example.com');
      set session_replication_role = replica;
      insert into batches (id, user_id, key_id, endpoint, model, input_asset_id, metadata, prices, hold_id, held_micro,
        cost_micro, total, completed, failed, created_at, begun_at, expires_at, ended_at, outcome, output_asset_id,
        check_at, lock_token, locked_until)
      values
        ('${id(1)}', 'ada', '${id(9)}', '/v1/responses', 'crumb', '${id(8)}', '{"shop": "north"}', '{"a": "5"}',
          '${id(7)}', 70, 30, 3, 1, 1, '${at(0).toISOString()}', '${at(1).toISOString()}', '${at(50).toISOString()}', null,
          null, null, '${at(3).toISOString()}', '${id(6)}', '${at(59).toISOString()}'),
        ('${id(2)}', 'ada', null, '/v1/embeddings', 'crumb', '${id(8)}', null, '{}', '${id(6)}', 9, 9, 1, 1, 0,
          '${at(1).toISOString()}', '${at(1).toISOString()}', '${at(50).toISOString()}', '${at(2).toISOString()}',
          'completed', '${id(5)}', '${at(2).toISOString()}', null, null);
      insert into batch_lines (batch_id, number, custom_id, body) values ('${id(1)}', 1, 'a', '{}');
      insert into drafts (id, user_id, created_at, settings, prices, hold_id, held_micro, cost_micro, charged_micro,
        chunks, chunks_done, chunks_failed, dropped, error, started_at, expires_at, ended_at, outcome, check_at)
      values
        ('${id(3)}', 'ada', '${at(0).toISOString()}', '{"model": "crumb"}', '{"a": "5"}', '${id(5)}', 40, 20, 10, 6, 4,
          1, '{"empty": 2}', 'Too long', '${at(1).toISOString()}', '${at(50).toISOString()}', null, null,
          '${at(1).toISOString()}'),
        ('${id(4)}', 'bob', '${at(0).toISOString()}', '{"model": "crumb"}', '{}', '${id(4)}', 8, 0, 0, 1, 0, 0, '{}', null,
          '${at(1).toISOString()}', '${at(50).toISOString()}', null, null, '${at(2).toISOString()}'),
        ('${id(5)}', 'bob', '${at(0).toISOString()}', null, '{}', null, 0, 0, 0, 0, 0, 0, '{}', null, null, null, null,
          null, '${at(0).toISOString()}');
      insert into draft_documents (id, draft_id, name, empty_pages, characters, sections)
      values ('${id(1)}', '${id(3)}', 'rye.md', 0, 3, '[]');
      insert into draft_chunks (draft_id, number, document_id, source, content)
      values ('${id(3)}', 0, '${id(1)}', 'rye.md', 'Rye');
      reset session_replication_role`,
    )
    .execute(db);
  before = (
    await sql<Money>`select id, held_micro, cost_micro, 0::bigint as charged_micro, hold_id from batches
      union all select id, held_micro, cost_micro, charged_micro, hold_id from drafts order by id`.execute(db)
  ).rows;
  await upgrade();
});

test('an upgrade retains the holds, costs and progress of batches and drafts', async () => {
  const after = await db
    .selectFrom('bulk_answers')
    .select(['id', 'held_micro', 'cost_micro', 'charged_micro', 'hold_id'])
    .orderBy('id')
    .execute();
  expect(after).toEqual(before);

  const [ended, running] = await selectBulk(db, 'batch', { userId: 'ada', limit: 10 });
  expect(ended).toMatchObject({ id: id(2), outcome: 'completed', output_asset_id: id(5), started_at: at(1) });
  expect(running).toMatchObject({
    ...{
      id: id(1),
      key_id: id(9),
      endpoint: '/v1/responses',
      metadata: { shop: 'north' },
      prices: { a: '5' },
    },
    ...{
      total: 3,
      completed: 1,
      failed: 1,
      created_at: at(0),
      begun_at: at(1),
      expires_at: at(50),
      outcome: null,
    },
  });
  expect(await findBulk(db, 'draft', { userId: 'ada', id: id(1) })).toBeUndefined();
  expect(await findBulk(db, 'draft', { userId: 'ada', id: id(3) })).toMatchObject({
    ...{ total: 6, completed: 3, failed: 1, dropped: { empty: 2 }, error: 'Too long', started_at: at(1) },
    ...{ settings: { model: 'crumb' }, outcome: null },
  });
  expect(await findBulk(db, 'draft', { userId: 'bob', id: id(5) })).toMatchObject({ started_at: null });
});

test('leases rows of different users in turn, whether they are batches or drafts', async () => {
  const claimed = [];
  for (let seconds = 30; seconds < 33; seconds += 1)
    claimed.push((await claimDue(db, bulkTable, at(seconds)))?.id);
  expect(claimed).toEqual([id(4), id(3), id(1)]);
  expect(await claimDue(db, bulkTable, at(33))).toBeNull();
});

test('deletes requests and documents with their row', async () => {
  await db
    .deleteFrom('bulk_answers')
    .where('id', 'in', [id(1), id(3)])
    .execute();
  for (const table of ['batch_lines', 'draft_documents', 'draft_chunks'] as const)
    expect(await db.selectFrom(table).selectAll().execute()).toEqual([]);
});
