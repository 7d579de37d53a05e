import { formatBgl } from '@bakehouse/contract/money';
import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import type { TestUser } from '../../../testing/test-server.ts';
import { expireHolds } from '../../billing/ledger/holds/holds.ts';
import { lockDeployment, recordAsleep, setDeploymentEnded } from '../queries.ts';
import { wakeDeployment } from '../reach/wake-deployment.ts';
import { starterServing } from '../testing/starter-serving.ts';
import { countTime } from './meter-deployment.ts';
import { meterDeployments } from './meter-deployments.ts';

const { server, clock, nextUser, makeFineTune, deploy, status, untilRunning, terminate, balance } =
  await starterServing();
const { db } = server.services;

// Triggers record which transactions notify other processes of a changed row, and which move credits.
await sql`create table seen_transactions (what text not null, id xid8 not null default pg_current_xact_id())`.execute(
  db,
);
const watched = [
  [
    'notifies',
    'deployments',
    sql`update`,
    sql`(old.sleeping, old.terminated_at) is distinct from (new.sleeping, new.terminated_at)`,
  ],
  ['notifies', 'model_servers', sql`update`, sql`old.workload_id is distinct from new.workload_id`],
  ['moves', 'ledger_transfers', sql`insert`, sql`true`],
] as const;
for (const [what, table, event, when] of watched) {
  const name = sql.ref(`see_${table}`);
  await sql`
    create function ${name}() returns trigger language plpgsql as $$
    begin insert into seen_transactions (what) values (${sql.lit(what)}); return null; end $$`.execute(db);
  await sql`create trigger ${name} after ${event} on ${sql.table(table)} for each row
    when (${when}) execute function ${name}()`.execute(db);
}

let user: TestUser;
beforeEach(async () => {
  user = await nextUser();
});

/** Counts the transactions since the last call that notified, that moved credits, and that did both. */
async function seen() {
  const { rows } = await sql<{ whats: string[] }>`
    with gone as (delete from seen_transactions returning what, id)
    select array_agg(distinct what order by what) as whats from gone group by id`.execute(db);
  const of = (...whats: string[]) => rows.filter((row) => row.whats.join() === whats.join()).length;
  return { notify: of('notifies'), move: of('moves'), both: of('moves', 'notifies') };
}

/** Deploys a model and lets it serve for two minutes, for the account of the user. */
async function serve(title: string): Promise<string> {
  const { pod_id } = await deploy(await makeFineTune(user, title));
  await untilRunning(pod_id);
  for (let minute = 0; minute < 2; minute += 1) {
    clock.advance({ minutes: 1 });
    await meterDeployments(server.services);
  }
  await seen();
  return pod_id;
}

test('a deployment ends in a transaction that notifies other processes, and is charged in another', async () => {
  const podId = await serve('Ended Loaf');
  expect(await terminate(podId)).toMatchObject({ status: 'terminated', cost_so_far: '0.041667' });
  const { notify, move, both } = await seen();
  expect([notify > 0, move, both]).toEqual([true, 1, 0]);
  expect((await balance()).held).toBe(0n);
});

test('a deployment falls asleep in one transaction, and is charged in another', async () => {
  const podId = await serve('Sleepy Loaf');
  clock.advance({ minutes: server.services.config.idleMinutes + 1 });
  await meterDeployments(server.services);
  expect(await status(podId)).toMatchObject({ status: 'sleeping' });
  const { notify, move, both } = await seen();
  expect([notify > 0, move, both]).toEqual([true, 1, 0]);
  expect((await balance()).held).toBe(0n);
  await terminate(podId);
});

test('charges within a minute what a killed process has not charged, and stops the meter', async () => {
  const podId = await serve('Torn Loaf');
  const before = await balance();
  await inTransaction(db, async (tx) => {
    await countTime(tx, clock.now(), await lockDeployment(tx, podId));
    await setDeploymentEnded(tx, podId, { now: clock.now(), failed: false, reason: 'Terminated by you' });
  });
  expect((await balance()).held).toBeGreaterThan(0n);
  clock.advance({ minutes: 1 });
  expect(await status(podId)).toMatchObject({ cost_so_far: '0.041667' });
  await meterDeployments(server.services);
  const after = await balance();
  expect([formatBgl(before.balance - after.balance), after.held]).toEqual(['0.041667', 0n]);
  expect(await status(podId)).toMatchObject({ cost_so_far: '0.041667' });
  await meterDeployments(server.services);
  expect(await balance()).toEqual(after);
});

test('a request after the hold has expired does not pay for time before it', async () => {
  const podId = await serve('Late Loaf');
  await inTransaction(db, async (tx) => {
    await countTime(tx, clock.now(), await lockDeployment(tx, podId));
    await recordAsleep(tx, podId, 'Asleep');
  });
  clock.advance({ minutes: 200 });
  await inTransaction(db, (tx) => expireHolds(tx, { now: clock.now(), limit: 10 }));
  await wakeDeployment(server.services, { capacity: async () => ({}) }, podId);
  await untilRunning(podId);
  await meterDeployments(server.services);
  clock.advance({ minutes: 1 });
  await meterDeployments(server.services);
  expect(await terminate(podId)).toMatchObject({ cost_so_far: '0.020834' });
  expect((await balance()).held).toBe(0n);
});

test('a request before the charge continues the same hold, and each minute is charged once', async () => {
  const podId = await serve('Woken Loaf');
  const before = await balance();
  await inTransaction(db, async (tx) => {
    await countTime(tx, clock.now(), await lockDeployment(tx, podId));
    await recordAsleep(tx, podId, 'Asleep');
  });
  await wakeDeployment(server.services, { capacity: async () => ({}) }, podId);
  expect((await balance()).held).toBe(before.held);
  await untilRunning(podId);
  await meterDeployments(server.services);
  clock.advance({ minutes: 1 });
  await meterDeployments(server.services);
  expect(await terminate(podId)).toMatchObject({ cost_so_far: '0.0625' });
  expect((await balance()).held).toBe(0n);
});
