import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Transaction } from '../../../platform/db/database.ts';
import { earlierDatabase } from '../../../testing/earlier-database.ts';
import { findRun, selectRuns } from '../queries.ts';

const id = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;

const model = { type: 'model', model_id: id(9), weight: 0.5 };
const pattern = { type: 'pattern', pattern: '^Yes', weight: 1 };
const runs = [
  [id(1), 'Swept', 'completed', {}],
  [id(2), 'Taste', 'failed', { objective: 'reward' }],
  [id(3), 'Scored', 'stopped', { objective: 'grpo', rewards: [pattern, model] }],
  [id(4), 'Ruled', 'failed', { objective: 'grpo', rewards: [pattern] }],
  [id(5), 'Under way', 'ready', { objective: 'reward' }],
] as const;
const configurations = {
  Taste: { objective: 'reward' },
  Scored: { objective: 'grpo', rewards: [model, pattern] },
  Plain: { epochs: 3 },
};

async function insertRows(tx: Transaction): Promise<void> {
  // Disables foreign keys, so no user, asset or hold is needed.
  await sql`set local session_replication_role = replica`.execute(tx);
  await sql`insert into sweeps (id, user_id, title, parameters, created_at)
    values (${id(8)}, 'ada', 'Ovens', '{epochs}', now())`.execute(tx);
  for (const [run, title, state, parameters] of runs) {
    await sql`
      insert into workloads (id, behaviour, kind, title, spec, accelerator_count, state, ended_at, check_at, created_at,
        queued_at, not_before)
      values (${run}, 'run', 'fine-tune', ${title}, '{}', 0, ${state}, ${state === 'ready' ? null : new Date()}, now(), now(),
        now(), now())`.execute(tx);
    await sql`
      insert into runs (id, kind, user_id, title, sweep_id, model_asset_id, base_asset_id, base_revision_id, base_title,
        dataset_asset_id, dataset_revision_id, dataset_title, file_name, parameters, price_id, devices, quote, work_flops,
        hold_id, held_micro, hold_expires_at, created_at, ceiling_micro, unit_price_micro, charged_micro)
      values (${run}, 'text', 'ada', ${title}, ${title === 'Swept' ? id(8) : null}, ${id(9)}, ${id(9)}, ${id(9)}, '', ${id(9)},
        ${id(9)}, '', 'rows.csv', ${JSON.stringify(parameters)}, 'training:CPU', 1, '{}', 1, ${id(9)}, 50, now(), now(), 75, 1,
        40)`.execute(tx);
    await sql`
      insert into workload_artefacts (workload_id, path, sha256, size_bytes, stored_at)
      values (${run}, 'checkpoint.tar', repeat('a', 64), 1, now())`.execute(tx);
  }
  for (const kind of ['sweep_ended', 'run_completed'])
    await sql`insert into notifications (user_id, kind, data) values ('ada', ${kind}, '{}')`.execute(tx);
  for (const [name, payload] of Object.entries(configurations))
    await sql`insert into training_configurations (user_id, name, payload)
      values ('ada', ${name}, ${JSON.stringify(payload)})`.execute(tx);
}

test('the migration keeps runs of sweeps and reward models with their charges, and ends the work that needs them', async () => {
  const { db, upgrade } = await earlierDatabase('0062_no_sweeps.sql', { withFunctions: true });
  await db.transaction().execute(insertRows);
  await upgrade();

  const listed = await selectRuns(db, { userId: 'ada', limit: 10 });
  const charged = Object.fromEntries(listed.map(({ title, chargedMicro }) => [title, chargedMicro]));
  expect(charged).toEqual(Object.fromEntries(runs.map(([, title]) => [title, 40n])));
  expect((await findRun(db, id(2)))?.parameters).toMatchObject({ objective: 'reward', rewards: [] });
  expect((await findRun(db, id(3)))?.parameters).toMatchObject({ rewards: [pattern, model] });
  const withFiles = await db
    .selectFrom('workloads')
    .innerJoin('workload_artefacts', 'workload_id', 'id')
    .select('title')
    .where('files_removed_at', 'is', null)
    .orderBy('id')
    .execute();
  expect(withFiles.map(({ title }) => title)).toEqual(['Swept', 'Ruled', 'Under way']);
  expect(await db.selectFrom('workload_artefacts').select('workload_id').execute()).toHaveLength(3);
  expect(await db.selectFrom('notifications').select('kind').execute()).toEqual([{ kind: 'run_completed' }]);
  const kept = await db.selectFrom('training_configurations').select(['name', 'payload']).execute();
  expect(Object.fromEntries(kept.map(({ name, payload }) => [name, payload]))).toEqual({
    Plain: configurations.Plain,
    Scored: { objective: 'grpo', rewards: [pattern] },
  });
});
