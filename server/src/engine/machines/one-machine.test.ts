import { type RawBuilder, sql } from 'kysely';
import { expect, test } from 'vitest';
import { earlierDatabase } from '../../testing/earlier-database.ts';
import { createFakeDriver, idleUntilStopped } from '../drivers/fake/fake-driver.ts';
import { testEngine } from '../testing/test-engine.ts';
import { findWorkload } from '../workloads.ts';

/** Earlier than anything that the test's engine does. */
const AT = new Date('2025-12-31T00:00:00Z');
const id = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;

/** A database of the previous version, which allowed several machines. */
async function databaseOfBefore() {
  const earlier = await earlierDatabase('0037_one_machine.sql');
  const { db } = earlier;
  const addMachine = (machine: string, holdsBlobs: boolean, seen: RawBuilder<unknown>, driver = 'local') =>
    sql`
      insert into machines (id, name, host, driver, holds_blobs, secret_check, started_at, seen_at)
      values (${machine}, ${machine}, '127.0.0.1', ${driver}, ${holdsBlobs}, '', now(), ${seen})`.execute(db);
  return { ...earlier, addMachine };
}

test('of several machines only the one with the files remains, and adopts the work begun on the others', async () => {
  const { url, db, addMachine, upgrade } = await databaseOfBefore();
  const [holder, other, cluster, former] = [id(1), id(2), id(3), '00000000-0000-4000-8000-000000000010'];
  await addMachine(other, false, sql`now()`);
  await addMachine(holder, true, sql`null`);
  await addMachine(cluster, false, sql`now()`, 'kubernetes');
  await addMachine(former, false, sql`now() - interval '1 day'`, 'kubernetes');
  const add = (workload: string, state: string, machine: string, more = sql`null`) =>
    sql`
      insert into workloads (id, behaviour, kind, title, spec, accelerator_count, state, machine_id, devices, attempt,
        saved_seconds, active_seconds, checkpoint_seconds, ended_at, check_at, created_at, queued_at, not_before)
      values (${workload}, 'run', 'test', 'x', '{"kind": "train", "inputs": []}', 0, ${state}, ${machine}, ${more}, 1, 30, 35, 20,
        ${state === 'stopped' ? AT : null}, ${AT}, ${AT}, ${AT}, ${AT})`.execute(db);
  await add(id(4), 'ready', other, sql`'{}'::integer[]`);
  await add(id(5), 'queued', other);
  await add(id(6), 'stopped', other);
  await add(id(7), 'ready', holder, sql`'{}'::integer[]`);
  await add(id(8), 'queued', cluster, sql`'{}'::integer[]`);
  await sql`
    insert into preparations (id, state, detail, updated_at, machine_id)
    values ('training', 'failed', '', now(), ${other}), ('training', 'ready', '', now(), ${holder})`.execute(
    db,
  );
  await sql`
    insert into processes (id, machine_id, roles, since, seen_at)
    values (${id(9)}, ${other}, '{reconciler}', now() - interval '1 day', now() - interval '1 hour')`.execute(
    db,
  );
  await upgrade();

  expect(await db.selectFrom('machines').select('id').orderBy('id').execute()).toEqual([
    { id: holder },
    { id: cluster },
  ]);
  expect(await db.selectFrom('preparations').select('state').execute()).toEqual([{ state: 'ready' }]);
  const workloads = await db
    .selectFrom('workloads')
    .select(['id', 'machine_id', 'interrupted'])
    .orderBy('id')
    .execute();
  expect(workloads).toEqual([
    { id: id(4), machine_id: holder, interrupted: true },
    { id: id(5), machine_id: null, interrupted: false },
    { id: id(6), machine_id: null, interrupted: false },
    { id: id(7), machine_id: holder, interrupted: false },
    { id: id(8), machine_id: cluster, interrupted: false },
  ]);

  // The first two machines have no processes; their workloads resume from what they uploaded.
  const { engineOn } = await testEngine({ db, url, machineId: holder });
  const driver = createFakeDriver({ capacity: { 'cpu:run': 3 }, script: idleUntilStopped });
  const engine = engineOn(driver);
  for (let pass = 0; pass < 3; pass += 1) await engine.pass();
  for (const workload of [id(4), id(5)])
    expect(await findWorkload(db, workload)).toMatchObject({
      ...{ state: 'starting', machineId: holder, attempt: 2, failures: 0 },
      ...{ activeSeconds: 20, savedSeconds: 20 },
    });
});

test('with files in a bucket the machine seen last remains, and no other is added', async () => {
  const { db, addMachine, upgrade } = await databaseOfBefore();
  await addMachine(id(1), false, sql`null`);
  await addMachine(id(2), false, sql`now() - interval '1 minute'`);
  await addMachine(id(3), false, sql`now() - interval '1 day'`);
  await upgrade();
  expect(await db.selectFrom('machines').select('id').execute()).toEqual([{ id: id(2) }]);
  const another = sql`
    insert into machines (id, name, host, driver, holds_blobs, started_at)
    values (${id(4)}, 'x', '', 'local', false, now())`.execute(db);
  await expect(another).rejects.toMatchObject({ constraint: 'machines_one_of_each' });
});
