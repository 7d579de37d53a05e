import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { checkReady } from './check-ready.ts';
import { systemClock } from './platform/clock.ts';
import { recordingDatabase } from './testing/recording-database.ts';
import { testDatabase } from './testing/test-database.ts';

const { db, pool, url } = await testDatabase();
const services = { db, pool, clock: systemClock, machineId: randomUUID() };
await sql`
  insert into machines (id, name, host, driver, holds_blobs, started_at)
  values (${services.machineId}, 'oven', '127.0.0.1', 'fake', true, now())`.execute(db);
const seen = (secondsAgo: number) =>
  sql`update machines set seen_at = now() - ${secondsAgo} * interval '1 second'`.execute(db);
const longAgo = performance.now() - 61_000;

test("a reconciler is not ready if passes over the machine's workloads have stopped", async () => {
  const check = () => checkReady(services, { roles: ['web', 'reconciler'], startedAt: longAgo })();
  const refusal = { publicMessage: 'No process manages the workloads of this machine' };
  await expect(check()).rejects.toMatchObject({
    ...refusal,
    cause: { message: expect.stringMatching(/never$/) },
  });
  await seen(90);
  await expect(check()).rejects.toMatchObject(refusal);
  await seen(30);
  await expect(check()).resolves.toBeUndefined();
});

test('a reconciler that has just started is ready, and so is a process with other roles', async () => {
  await seen(90);
  const fresh = checkReady(services, { roles: ['reconciler'] });
  const other = checkReady(services, { roles: ['web', 'worker'], startedAt: longAgo });
  await expect(Promise.all([fresh(), other()])).resolves.toBeDefined();
});

test('concurrent and repeated checks share one database query', async () => {
  await seen(30);
  const { db: recorded, asked } = recordingDatabase(url);
  const check = checkReady({ ...services, db: recorded }, { roles: ['reconciler'], startedAt: longAgo });
  await Promise.all(Array.from({ length: 50 }, check));
  const { rows } = await pool.query<{ xmin: string }>('select xmin::text from readiness_checks');
  await check();
  expect((await pool.query('select xmin::text from readiness_checks')).rows).toEqual(rows);
  expect(asked).toHaveLength(1);
});
