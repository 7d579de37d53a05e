import { randomUUID } from 'node:crypto';
import { formatBgl } from '@bakehouse/contract/money';
import { sql } from 'kysely';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import type { TestUser } from '../../../testing/test-server.ts';
import { type TestServing, testServing } from '../../../testing/test-serving.ts';
import { costMicro } from '../../billing/prices/cost.ts';
import { defaultPrice } from '../../billing/prices/default-price.ts';
import { insertFineTune, insertStarter } from '../testing/test-models.ts';
import { meterDeployments } from './meter-deployments.ts';

const costOf = (minutes: bigint) =>
  costMicro([{ price: defaultPrice('text_serving:CPU'), parts: minutes * 60_000n }]);

const LISTENER = randomUUID();

let serving: TestServing;

beforeAll(async () => {
  serving = await testServing({ config: { idleMinutes: 0 } });
});

/** The model server is ready and the meter runs. */
async function deployed(title: string): Promise<{ owner: TestUser; podId: string }> {
  const { server } = serving;
  const owner = await server.signUp();
  const slug = title.toLowerCase().replace(' ', '-');
  const starter = await insertStarter(server.services, slug, `GGUF of ${title}`);
  const podId = await serving.deploy(owner, await insertFineTune(server.services, starter, owner, title));
  await serving.untilRunning(owner, podId);
  return { owner, podId };
}

/**
 * Simulates another process that has received reports without a gap since then. The test server's own
 * heartbeats cannot be used, because they have the real time.
 */
async function listenedSince(since: Date): Promise<void> {
  const { db } = serving.server.services;
  // Let the model servers' reports look recent, so that none is stopped as unresponsive.
  const own = serving.driver.running().map(({ workloadId }) => workloadId);
  const spoken = db.updateTable('workloads').set({ last_report_at: serving.clock.now() });
  await spoken.where('id', 'in', own).execute();
  // Later test files use the same database.
  onTestFinished(async () => void (await db.deleteFrom('processes').where('id', '=', LISTENER).execute()));
  await sql`
    insert into processes (id, machine_id, roles, url, since, seen_at, left_at)
    select ${LISTENER}, machine_id, roles, url, ${since}, ${serving.clock.now()}, now() from processes
    where id <> ${LISTENER} order by since desc limit 1
    on conflict (id) do update set since = excluded.since, seen_at = excluded.seen_at`.execute(db);
}

/** Locks the deployment's row in another transaction until `work` has ended. */
async function whileLocked(podId: string, work: () => Promise<void>): Promise<void> {
  await serving.server.services.db.transaction().execute(async (tx) => {
    await sql`select from deployments where id = ${podId} for update`.execute(tx);
    await work();
  });
}

async function meteredAt(podId: string): Promise<Date | null> {
  const { metered_at } = await serving.server.services.db
    .selectFrom('deployments')
    .select('metered_at')
    .where('id', '=', podId)
    .executeTakeFirstOrThrow();
  return metered_at;
}

const untilSomebodyWaits = () =>
  vi.waitFor(async () => {
    const { rows } = await sql`select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(serving.server.services.db);
    expect(rows.length).toBeGreaterThan(0);
  });

test('a locked row does not block the metering of other deployments, and all of its time is charged after it is unlocked', async () => {
  const { clock } = serving;
  const [locked, other] = [await deployed('Locked Loaf'), await deployed('Free Focaccia')];
  await meterDeployments(serving.server.services);
  const begun = clock.now();
  const failures = vi.spyOn(serving.server.services.log, 'error');
  await whileLocked(locked.podId, async () => {
    serving.clock.advance({ minutes: 1 });
    await meterDeployments(serving.server.services);
    const ofLocked = expect.objectContaining({ pod_id: locked.podId });
    expect(failures).not.toHaveBeenCalledWith(ofLocked, expect.anything());
    expect(await meteredAt(other.podId)).toEqual(clock.now());
    serving.clock.advance({ minutes: 49 });
  });
  await listenedSince(begun);
  await meterDeployments(serving.server.services);
  expect(await serving.status(locked.owner, locked.podId)).toMatchObject({
    cost_so_far: formatBgl(costOf(50n)),
  });
  // The held hour ends while the row is locked again. The time after it belongs to the next hour.
  await whileLocked(locked.podId, async () => serving.clock.advance({ minutes: 40 }));
  await listenedSince(begun);
  await meterDeployments(serving.server.services);
  expect(await serving.status(locked.owner, locked.podId)).toMatchObject({
    cost_so_far: formatBgl(costOf(90n)),
  });
  const before = await serving.balance(locked.owner);
  await serving.terminate(locked.owner, locked.podId);
  const after = await serving.balance(locked.owner);
  expect(after.held).toBe(0n);
  expect(before.balance - after.balance).toBe(costOf(90n) - costOf(60n));
});

test('two concurrent meters charge a minute once, and a meter that is killed charges nothing', async () => {
  const { clock, server } = serving;
  const { owner, podId } = await deployed('Double Dough');
  await meterDeployments(serving.server.services);
  const begun = clock.now();
  serving.clock.advance({ minutes: 10 });
  await listenedSince(begun);
  await Promise.all([meterDeployments(serving.server.services), meterDeployments(serving.server.services)]);
  expect(await serving.status(owner, podId)).toMatchObject({ cost_so_far: formatBgl(costOf(10n)) });

  // The first meter is killed before its commit, so the next one counts the time.
  serving.clock.advance({ minutes: 10 });
  await listenedSince(begun);
  await whileLocked(podId, async () => {
    const dying = meterDeployments(serving.server.services);
    await untilSomebodyWaits();
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(server.services.db);
    await dying;
  });
  await meterDeployments(serving.server.services);
  expect(await serving.status(owner, podId)).toMatchObject({ cost_so_far: formatBgl(costOf(20n)) });
  await serving.terminate(owner, podId);
});

test('charges at most two minutes if no process received reports', async () => {
  const { clock } = serving;
  const { owner, podId } = await deployed('Unseen Sourdough');
  await meterDeployments(serving.server.services);
  serving.clock.advance({ minutes: 20 });
  const since = clock.now();
  serving.clock.advance({ minutes: 5 });
  await listenedSince(since);
  await meterDeployments(serving.server.services);
  expect(await serving.status(owner, podId)).toMatchObject({ cost_so_far: formatBgl(costOf(7n)) });
  await serving.terminate(owner, podId);
});
