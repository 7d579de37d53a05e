import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { plansOf, recordingDatabase } from '../../../testing/recording-database.ts';
import { testDatabase } from '../../../testing/test-database.ts';
import { listUsageWindows } from '../../billing/steps.ts';
import { insertTestUser } from '../../billing/testing/test-user.ts';

const { url } = await testDatabase();
const recording = recordingDatabase(url);
const { db } = recording;
let userId: string;

/** Opens one window per minute. */
const open = (count: number, from: number) =>
  sql`
    with hold as (
      insert into ledger_holds (debit_account_id, credit_account_id, amount, amount_asked, kind, description, refs,
        expires_at, idempotency_key)
      select ${`user:${userId}`}, 'revenue:llm_inference', 1, 1, 'charge', 'Chat', '{}', '2100-01-01', gen_random_uuid()
      from generate_series(1, ${count}::int)
      returning id
    ), numbered as (select id, row_number() over () + ${from}::int as n from hold)
    insert into usage_windows (id, user_id, source, leader_id, hold_id, opened_at)
    select gen_random_uuid(), ${userId}, 'model:' || n, gen_random_uuid(), id,
      timestamptz '2026-01-01' + n * interval '1 minute'
    from numbered`.execute(db);

beforeAll(async () => {
  userId = await insertTestUser(db);
  await open(3000, 0);
  await sql`vacuum analyze usage_windows`.execute(db);
});

const list = (cursor?: string) => listUsageWindows(db, { userId, cursor, limit: 100 });

test('lists all windows of a user in order, including a window that is opened during the listing', async () => {
  const sources: string[] = [];
  for (let page = await list(); page.length > 0; page = await list(page.at(-1)?.id)) {
    sources.push(...page.map(({ source }) => source));
    if (sources.length === 3000) await open(1, 3000);
  }
  expect(sources).toEqual(Array.from({ length: 3001 }, (_, i) => `model:${i + 1}`));
});

test('reads each page in index order', async () => {
  const cursor = (await list()).at(-1)?.id;
  for (const page of [() => list(), () => list(cursor)]) {
    const [plan] = await plansOf(recording, page);
    expect(plan).toContain('using usage_windows_by_user');
    expect(plan).not.toContain('Sort');
  }
});
