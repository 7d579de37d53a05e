import { sql } from 'kysely';
import { expect, test, vi } from 'vitest';
import type { Services } from '../../../platform/context.ts';
import { createPool, openDatabase } from '../../../platform/db/database.ts';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { testDatabase } from '../../../testing/test-database.ts';
import { rotateUsagePartitionsJob } from '../jobs/usage-jobs.ts';
import { rotatePartitions } from './usage-queries.ts';

const { url } = await testDatabase();
const db = openDatabase(createPool(url));
onFileEnd(() => db.destroy());

test('keeps days for a while and then drops them', async () => {
  await sql`select usage_prepare_day(current_date - 200)`.execute(db);
  const days = async () =>
    (await sql`select inhrelid from pg_inherits where inhparent = 'usage_events'::regclass`.execute(db)).rows
      .length;
  const before = await days();
  await rotatePartitions(db, 90);
  // The oldest day was dropped and tomorrow was added, so the number is the same.
  expect(await days()).toBe(before);
  await rotatePartitions(db, 90);
  expect(await days()).toBe(before);
});

test('retries another night if a day to drop is in use, without delaying charges', async () => {
  await sql`select usage_prepare_day(current_date - 200)`.execute(db);
  const { rows } = await sql<{ name: string }>`
    select 'usage_events_' || to_char(current_date - 200, 'YYYYMMDD') as name`.execute(db);
  const isThere = async () =>
    (await sql`select from pg_class where relname = ${rows[0]?.name}`.execute(db)).rows.length > 0;
  const warn = vi.fn();
  const rotate = () =>
    rotateUsagePartitionsJob.run(
      { db, log: { warn } } as unknown as Services,
      {},
      new AbortController().signal,
    );
  await db.transaction().execute(async (tx) => {
    await sql`lock table usage_events in access share mode`.execute(tx);
    await rotate();
  });
  expect(warn).toHaveBeenCalledOnce();
  expect(await isThere()).toBe(true);
  await rotate();
  expect(warn).toHaveBeenCalledOnce();
  expect(await isThere()).toBe(false);
});
