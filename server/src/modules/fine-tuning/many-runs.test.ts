import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { plansOf, recordingDatabase } from '../../testing/recording-database.ts';
import { testDatabase } from '../../testing/test-database.ts';
import { selectMeasuredFlops } from './measured-queries.ts';
import { selectRuns } from './queries.ts';

const RUNS = 5000;
const { url } = await testDatabase();
const recording = recordingDatabase(url);
const { db } = recording;

// The speed of a run grows with its number. Every third run failed.
beforeAll(async () => {
  await db.transaction().execute(async (tx) => {
    // Foreign keys are disabled, because the runs have no holds.
    await sql`set local session_replication_role = replica`.execute(tx);
    await sql`
      with made as (
        select gen_random_uuid() as id, n, timestamptz '2026-01-01' + n * interval '1 minute' as at
        from generate_series(1, ${RUNS}::int) n
      ), work as (
        insert into workloads (id, behaviour, kind, title, spec, accelerator_count, state, check_at, created_at, queued_at,
          not_before, ended_at, active_seconds)
        select id, 'run', 'fine-tune', 'run', '{}', 0, case n % 3 when 0 then 'failed' else 'completed' end, at, at, at, at,
          at, 10
        from made
      )
      insert into runs (id, user_id, title, model_asset_id, base_asset_id, base_revision_id, base_title, dataset_asset_id,
        dataset_revision_id, dataset_title, file_name, parameters, price_id, devices, quote, work_flops, hold_id, held_micro,
        hold_expires_at, created_at, ceiling_micro, unit_price_micro)
      select id, 'ada', 'Run ' || n, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'b', gen_random_uuid(),
        gen_random_uuid(), 'd', 'f', '{}', 'training:CPU', 1, '{}', n * 10, gen_random_uuid(), 1, at, at, 1, 1
      from made`.execute(tx);
  });
  await sql`analyze runs, workloads`.execute(db);
});

test('measures the speed on the latest finished runs and reads no other runs', async () => {
  const measure = () => selectMeasuredFlops(db, { priceId: 'training:CPU', kind: 'text' });
  // 5000, 4999, 4997, 4996 and 4994 are the latest finished runs; their median is 4997.
  expect(await measure()).toBe(4997);
  const [plan] = await plansOf(recording, measure, { analyze: true });
  expect(plan).toMatch(/using runs_by_price on runs .*rows=7\b/);
});

test.each([
  ['created', 'runs_by_user'],
  ['title', 'runs_by_title'],
] as const)('reads runs ordered by %s in pages', async (sort, index) => {
  const page = { userId: 'ada', sort, limit: 10 };
  const cursor = (await selectRuns(db, page)).at(-1)?.id;
  for (const query of [page, { ...page, cursor }]) {
    const [plan] = await plansOf(recording, () => selectRuns(db, query));
    expect(plan).toContain(`using ${index} on runs`);
    expect(plan).not.toContain('Sort');
  }
});
