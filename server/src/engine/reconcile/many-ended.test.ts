import { sql } from 'kysely';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { openEvents } from '../../platform/events/events.ts';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { recordingDatabase } from '../../testing/recording-database.ts';
import { testDatabase } from '../../testing/test-database.ts';
import { createFakeDriver, idleUntilStopped } from '../drivers/fake/fake-driver.ts';
import { createEngine, registerKinds } from '../engine.ts';
import { measureWorkloads } from '../gauges.ts';
import { testMachine } from '../testing/test-machine.ts';

const now = new Date('2026-01-08T00:00:00Z');
const { url } = await testDatabase();
const { db, asked } = recordingDatabase(url);
const log = pino({ level: 'silent' });
const events = await openEvents(url, log);
onFileEnd(events.close);

/** Runs that ended within the last week, most of them completed, and one waiting run. */
async function fill(count: number): Promise<void> {
  await sql`
    insert into workloads (behaviour, kind, title, spec, accelerator_count, state, check_at, created_at,
      queued_at, not_before, ended_at, files_removed_at)
    select 'run', 'test', 'a run', '{}', 0, case when n % 5 = 0 then 'failed' else 'completed' end,
      at, at, at, at, at, case when n % 5 = 0 then null else at end
    from (select n, ${now}::timestamptz - n * interval '5 s' as at from generate_series(1, ${count}) n) ended`.execute(
    db,
  );
  await sql`
    insert into workloads (behaviour, kind, title, spec, accelerator_count, check_at, created_at, queued_at, not_before)
    values ('run', 'test', 'a run', '{}', 0, ${now}, ${now}, ${now}, ${now})`.execute(db);
  await sql`analyze workloads`.execute(db);
}

test('a pass of the engine and its gauges read no workloads that ended long ago', async () => {
  await fill(20_000);
  const driver = createFakeDriver({ capacity: {}, script: idleUntilStopped });
  const engine = createEngine(
    { db, clock: { now: () => now }, events, log },
    {
      driver,
      kinds: registerKinds([]),
      machineId: await testMachine(db),
      serverUrl: async () => '',
    },
  );
  const registry = new Registry();
  measureWorkloads(registry, db);

  asked.length = 0;
  await engine.pass();
  await registry.metrics();
  const queries = asked.filter(({ text }) => /\bworkloads\b/.test(text));
  expect(queries.length).toBeGreaterThan(6);
  for (const { text, values } of [...queries]) {
    const { rows } = await db.executeQuery<Record<'QUERY PLAN', string>>({
      ...sql`select 1`.compile(db),
      sql: `explain (analyze, costs off) ${text}`,
      parameters: values,
    });
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan, text).not.toContain('Seq Scan on workloads');
    expect(plan, text).not.toMatch(/Rows Removed by Filter: \d{2,}/);
  }
});
