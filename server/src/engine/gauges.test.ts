import { sql } from 'kysely';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { testDatabase } from '../testing/test-database.ts';
import { measureWorkloads } from './gauges.ts';

test('measures the longest wait from the last activity of a workload, not from its request', async () => {
  const { db } = await testDatabase();
  const registry = new Registry();
  measureWorkloads(registry, db);
  const longest = async () => {
    const metric = await registry.getSingleMetric('bakehouse_queue_seconds_max')?.get();
    return Math.round((metric?.values[0]?.value ?? 0) / 60);
  };
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000);
  const insert = (queuedAt: Date, startedAt: Date | null, reportedAt: Date | null) =>
    sql`
    insert into workloads (behaviour, kind, title, spec, accelerator_count, check_at, created_at, queued_at, not_before,
      attempt_started_at, last_report_at)
    values ('run', 'test', 'x', '{}', 0, ${queuedAt}, ${queuedAt}, ${queuedAt}, ${queuedAt}, ${startedAt}, ${reportedAt})`.execute(
      db,
    );
  expect(await longest()).toBe(0);
  await insert(ago(600), ago(590), ago(2));
  await insert(ago(500), ago(3), null);
  expect(await longest()).toBe(3);
  // Resumed after it had worked.
  await insert(ago(5), ago(590), ago(580));
  expect(await longest()).toBe(5);
});
