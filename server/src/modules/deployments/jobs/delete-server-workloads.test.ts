import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { testDatabase } from '../../../testing/test-database.ts';
import { deleteServerWorkloadsBefore } from '../servers/server-queries.ts';

const { db } = await testDatabase();
const day = (number: number) => new Date(Date.UTC(2026, 0, number));

async function insertWorkload(
  title: string,
  more: { behaviour?: string; removed?: boolean; endedAt?: Date | null },
) {
  const { behaviour = 'deployment', removed = true, endedAt = day(1) } = more;
  const { rows } = await sql<{ id: string }>`
    insert into workloads (behaviour, kind, title, spec, accelerator_count, state, check_at, created_at, queued_at,
      not_before, ended_at, files_removed_at)
    values (${behaviour}, ${behaviour === 'run' ? 'fine-tune' : 'model-server'}, ${title}, '{}', 0,
      ${endedAt ? 'stopped' : 'ready'}, ${day(1)}, ${day(1)}, ${day(1)}, ${day(1)}, ${endedAt},
      ${endedAt && removed ? endedAt : null}) returning id`.execute(db);
  const id = rows[0]?.id as string;
  await sql`insert into workload_logs (workload_id, at, line) values (${id}, ${day(1)}, 'a line')`.execute(
    db,
  );
  return id;
}

test('deletes workloads of model servers with their logs unless they are referenced', async () => {
  for (const title of ['old', 'older', 'oldest']) await insertWorkload(title, {});
  await insertWorkload('new', { endedAt: day(20) });
  await insertWorkload('alive', { endedAt: null });
  await insertWorkload('has files', { removed: false });
  await insertWorkload('a run', { behaviour: 'run' });
  const current = await insertWorkload('named by its server', {});
  const next = await insertWorkload('named as the next', {});
  const carrier = await insertWorkload('named by a deployment', {});
  await sql`
    insert into model_servers (engine, kind, files_sha256, base_files, accelerator_count, context_tokens, workload_id, next_workload_id)
    values ('llamacpp', 'text', 'a', '[]', 0, 8192, ${current}, ${next})`.execute(db);
  await sql`insert into users (id, email, name, username) values ('ada', 'a@example.com', 'Ada', 'ada')`.execute(
    db,
  );
  await sql`
    insert into deployments (user_id, model_server_id, asset_id, revision_id, base_asset_id, model_name, title,
      base_model_title, instance_type, price_id, price_count, kind, unit_price_micro, carrier_id, terminated_at)
    select 'ada', id, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'm', 'm', 'm', 'cpu', 'cpu', 1, 'vllm', 1,
      ${carrier}, now() from model_servers`.execute(db);

  const deleted: number[] = [];
  do deleted.push(await deleteServerWorkloadsBefore(db, day(10), 2));
  while (deleted.at(-1));
  expect(deleted).toEqual([2, 1, 0]);
  const left = await db.selectFrom('workloads').select('title').orderBy('title').execute();
  expect(left.map(({ title }) => title)).toEqual([
    'a run',
    'alive',
    'has files',
    'named as the next',
    'named by a deployment',
    'named by its server',
    'new',
  ]);
  expect(await db.selectFrom('workload_logs').select('workload_id').execute()).toHaveLength(left.length);
});
