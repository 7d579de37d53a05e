import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { plansOf, recordingDatabase } from '../../../testing/recording-database.ts';
import { testDatabase } from '../../../testing/test-database.ts';
import { selectDeployments } from '../find-deployments.ts';
import { listReadyTimes } from '../queries.ts';
import {
  findModelServerOfWorkload,
  listIdleStarterServers,
  listModelServersInUse,
  selectServed,
} from '../servers/server-queries.ts';

const COUNT = 5000;
const { url } = await testDatabase();
const recording = recordingDatabase(url);
const { db } = recording;
const [serverId, podId, carrierId] = [randomUUID(), randomUUID(), randomUUID()];

// Simulates a long history: many deployments, each with its own server. Only one is awake.
beforeAll(async () => {
  await sql`insert into users (id, email, name, username) values ('ada', 'a@example.com', 'Ada', 'ada')`.execute(
    db,
  );
  await sql`
    with ended as (
      select gen_random_uuid() as workload, gen_random_uuid() as server, gen_random_uuid() as pod, n
      from generate_series(1, ${COUNT}::int) n
      union all select ${carrierId}::uuid, ${serverId}::uuid, ${podId}::uuid, 0
    ), workload as (
      insert into workloads (id, behaviour, kind, title, spec, accelerator_count, state, check_at, created_at,
        queued_at, not_before, ended_at)
      select workload, 'deployment', 'model-server', 'a server', '{}', 0, case n when 0 then 'ready' else 'stopped' end,
        now(), now(), now(), now(), case when n > 0 then now() end from ended
    ), server as (
      insert into model_servers (id, engine, kind, files_sha256, base_files, accelerator_count, context_tokens, workload_id,
        deployment_id)
      select server, 'llamacpp', 'text', n, '[]', 0, 8192, case n when 0 then workload end, pod from ended
    )
    insert into deployments (id, user_id, model_server_id, asset_id, revision_id, base_asset_id, model_name, title,
      base_model_title, instance_type, price_id, price_count, kind, unit_price_micro, carrier_id, terminated_at)
    select pod, 'ada', server, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'm' || n, 'm', 'm', 'cpu', 'cpu',
      1, case n % 100 when 1 then 'flux' else 'text' end, 1, workload, case when n > 0 then now() end
    from ended`.execute(db);
  await sql`analyze`.execute(db);
});

test.each([
  [
    'the replicas of a deployment',
    () =>
      db.transaction().execute((tx) => listReadyTimes(tx, { id: podId, carrier_id: carrierId }, ['ready'])),
    [null],
  ],
  ['the server of a workload', () => findModelServerOfWorkload(db, carrierId), { id: serverId }],
  ['the servers in use', () => listModelServersInUse(db), [{ id: serverId }]],
  ['idle starter models', () => listIdleStarterServers(db, new Date()), []],
  ['the model of a workload', () => selectServed(db, [carrierId]), [{ workload_id: carrierId }]],
])('reads no historical rows to find %s', async (_what, find, expected) => {
  expect(await find()).toMatchObject(expected);
  const plans = await plansOf(recording, find, { analyze: true });
  expect(plans).toHaveLength(1);
  expect(plans[0]).not.toMatch(/Seq Scan on (workloads|model_servers|deployments)/);
  expect(plans[0]).not.toMatch(/Rows Removed by Filter: \d{2,}/);
});

test.each([
  [{}, 'deployments_by_user'],
  [{ kinds: ['flux'] as const }, 'deployments_by_kind'],
  [{ sort: 'title' as const }, 'deployments_by_title'],
])('lists deployments in the order of an index %#', async (wanted, index) => {
  const list = (cursor?: string) =>
    selectDeployments(db, { userId: 'ada', includeTerminated: true, limit: 10, cursor, ...wanted });
  const cursor = (await list()).at(-1)?.id;
  for (const page of [() => list(), () => list(cursor)]) {
    const [plan] = await plansOf(recording, page);
    expect(plan).toContain(`using ${index} on deployments`);
    expect(plan).not.toContain('Sort');
  }
});
