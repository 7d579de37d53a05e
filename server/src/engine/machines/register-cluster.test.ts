import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { createFakeDriver, idleUntilStopped } from '../drivers/fake/fake-driver.ts';
import { testEngine } from '../testing/test-engine.ts';
import { testCluster } from '../testing/test-machine.ts';
import { registerCluster } from './register-cluster.ts';

const { db, clock, engineOn, request, see, pass } = await testEngine();
const clusters = () =>
  db.selectFrom('machines').select(['id', 'name']).where('driver', '=', 'kubernetes').execute();

/** A cluster and its engine. */
function engineOf(machineId: string) {
  const fake = createFakeDriver({ capacity: { 'cpu:run': 2 }, script: idleUntilStopped });
  return engineOn({ ...fake, admission: 'driver' }, { machineId });
}

test('another cluster replaces one without an engine, with the work begun there', async () => {
  const first = await testCluster(db);
  const engine = engineOf(first);
  await engine.pass();
  const id = await request();
  await engine.pass();
  expect(await see(id)).toMatchObject({ machineId: first, attempt: 1 });
  await sql`update workloads set saved_seconds = 30, active_seconds = 35, checkpoint_seconds = 20`.execute(
    db,
  );

  const next = { id: randomUUID(), name: 'patisserie', now: clock.now() };
  await expect(registerCluster(db, next, 0)).rejects.toThrow(
    'already run in the cluster bakery: set BAKEHOUSE_KUBECONFIG to that cluster, or stop the processes that use it',
  );
  // Registering the same cluster is idempotent.
  await registerCluster(db, { ...next, id: first, name: 'bakery' });
  expect(await clusters()).toEqual([{ id: first, name: 'bakery' }]);

  await sql`update machines set seen_at = seen_at - interval '1 minute'`.execute(db);
  await registerCluster(db, next);
  expect(await clusters()).toEqual([{ id: next.id, name: 'patisserie' }]);
  expect(await see(id)).toMatchObject({ machineId: next.id, interrupted: true });
  pass(60);
  const engineOfNext = engineOf(next.id);
  await engineOfNext.pass();
  await engineOfNext.pass();
  expect(await see(id)).toMatchObject({ machineId: next.id, attempt: 2, failures: 0, savedSeconds: 20 });
});
