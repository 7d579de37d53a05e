import { deployVllm, quoteVllm } from '@bakehouse/contract/deployments/text';
import { formatBgl, parseBgl } from '@bakehouse/contract/money';
import { sql } from 'kysely';
import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import type { TestUser } from '../../../testing/test-server.ts';
import { type TestServing, testServing } from '../../../testing/test-serving.ts';
import { costMicro } from '../../billing/prices/cost.ts';
import { defaultPrice } from '../../billing/prices/default-price.ts';
import { meterDeployments } from '../metering/meter-deployments.ts';
import { lockDeployment, setDeploymentEnded, setReplicas } from '../queries.ts';
import { insertModel, insertStarter } from '../testing/test-models.ts';
import { CPU_SERVERS } from './limits/server-limits.ts';
import { reconcileModelServer } from './reconcile-model-server.ts';
import { addReplica } from './scale-deployment.ts';
import { setWorkloads } from './server-queries.ts';

const patiently = { interval: 50 };
const minutesCost = (count: number) =>
  costMicro([{ price: defaultPrice('text_serving:CPU'), parts: BigInt(count) * 60_000n }]);

/** The capacity of one machine. */
const capacity = async () => ({ 'cpu:deployment': CPU_SERVERS });

let serving: TestServing;
let user: TestUser;
beforeAll(async () => {
  serving = await testServing();
});

beforeEach(async () => {
  serving.stub.answer = 'ok';
  user = await serving.server.signUp();
});

afterEach(() => {
  vi.useRealTimers();
});

async function deploy(scaling: object): Promise<string> {
  const content = { 'model.gguf': `weights of ${user.userId}` };
  const { assetId } = await insertModel(serving.server.services, user, 'Rye', content);
  const body = { model_id: assetId, user_id: user.userId, ...scaling };
  return (await serving.server.request(deployVllm, { body }, { as: user })).pod_id;
}

const status = (podId: string) => serving.status(user, podId);

/** Sends one request more than a replica answers in parallel. The requests run until `end` is called. */
function overloadReplica(): { end: () => Promise<void> } {
  serving.stub.answer = 'hang';
  const client = new AbortController();
  const asked = Array.from({ length: 5 }, () =>
    serving.ask(user, 'rye', { signal: client.signal }).catch(() => undefined),
  );
  return {
    end: async () => {
      client.abort();
      await Promise.all(asked);
    },
  };
}

async function deployBusy(scaling: object) {
  const podId = await deploy({ auto_scale: true, ...scaling });
  await serving.untilRunning(user, podId);
  const load = overloadReplica();
  await vi.waitFor(async () => {
    expect((await status(podId)).replicas).toBe(2);
    expect(await answering(podId)).toBe(2);
  }, patiently);
  return { podId, load };
}

/** Returns how many replicas the meter counts. */
async function answering(podId: string): Promise<number> {
  const { metered_replicas } = await serving.server.services.db
    .selectFrom('deployments')
    .select('metered_replicas')
    .where('id', '=', podId)
    .executeTakeFirstOrThrow();
  return metered_replicas;
}

/** Returns when the last replica was last recorded as in use. */
async function usedAt(podId: string): Promise<Date | null> {
  const { busy_at } = await serving.server.services.db
    .selectFrom('deployments')
    .select('busy_at')
    .where('id', '=', podId)
    .executeTakeFirstOrThrow();
  return busy_at;
}

it.each([
  ['max_replicas', { max_replicas: 2 }],
  ['min_replicas', { min_replicas: 0 }],
  ['min_replicas', { auto_scale: true, min_replicas: 3, max_replicas: 2 }],
  ['max_replicas', { auto_scale: true, max_replicas: 9 }],
  ['min_replicas', { auto_scale: true, min_replicas: 8, max_replicas: 8 }],
])('rejects contradictory replica settings with the field %s', async (param, scaling) => {
  await expect(deploy(scaling)).rejects.toMatchObject({ status: 400, body: { error: { param } } });
});

it('quotes the price of one replica, of the minimum and of the maximum, and holds the quoted price', async () => {
  const { server } = serving;
  const { assetId } = await insertModel(server.services, user, 'Rye', { 'model.gguf': 'weights' });
  const quote = (scaling: object) =>
    server.request(
      quoteVllm,
      { body: { model_id: assetId, user_id: user.userId, auto_scale: true, ...scaling } },
      { as: user },
    );
  const hour = (replicas: number) => formatBgl(minutesCost(60 * replicas));
  const asked = { min_replicas: 2, max_replicas: 3 };
  const prices = { price_per_hour: hour(1), min_price_per_hour: hour(2), max_price_per_hour: hour(3) };
  expect(await quote(asked)).toEqual({
    ...{ device: 'CPU', ...prices, hold: hour(1) },
    // A deployment with a minimum of two replicas never sleeps.
    sleeps_after_minutes: null,
    // The model's file does not state a context length.
    ...{ context_tokens: 8192, context_tokens_max: null },
  });
  expect(await quote({ min_replicas: 0 })).toMatchObject({ min_price_per_hour: hour(1) });
  await expect(quote({ min_replicas: 3, max_replicas: 2 })).rejects.toMatchObject({
    body: { error: { param: 'min_replicas' } },
  });

  expect((await serving.balance(user)).held).toBe(0n);
  const podId = await deploy({ auto_scale: true, max_replicas: 3 });
  expect((await serving.balance(user)).held).toBe(minutesCost(60));
  await serving.terminate(user, podId);
});

it('never sleeps with a minimum of one replica, and sleeps with a minimum of none', async () => {
  const { server, clock } = serving;
  const awake = await deploy({ auto_scale: true });
  await serving.untilRunning(user, awake);
  clock.advance({ minutes: server.services.config.idleMinutes + 1 });
  await meterDeployments(server.services);
  expect((await status(awake)).status).toBe('running');
  await serving.terminate(user, awake);

  const asleep = await deploy({ auto_scale: true, min_replicas: 0 });
  await serving.untilRunning(user, asleep);
  clock.advance({ minutes: server.services.config.idleMinutes + 1 });
  await meterDeployments(server.services);
  expect((await status(asleep)).status).toBe('sleeping');
  await serving.terminate(user, asleep);
});

it('adds a replica while requests wait, sends it the next request, and charges the time of both', async () => {
  const { server, clock, stub } = serving;
  const before = await serving.balance(user);
  const { podId, load } = await deployBusy({ max_replicas: 2 });
  stub.answer = 'ok';
  expect((await serving.ask(user, 'rye')).status).toBe(200);

  const counted = (await status(podId)).cost_so_far;
  clock.advance({ minutes: 1 });
  await meterDeployments(server.services);
  expect(counted).toBe('0');
  expect((await status(podId)).cost_so_far).toBe(formatBgl(minutesCost(2)));
  await load.end();
  const ended = await serving.terminate(user, podId);
  const tokens = before.balance - (await serving.balance(user)).balance - parseBgl(ended.cost_so_far);
  expect(ended.cost_so_far).toBe(formatBgl(minutesCost(2)));
  // The rest is the price of the single answer.
  expect(tokens).toBeLessThan(minutesCost(1));
  await expect.poll(() => serving.driver.running(), patiently).toEqual([]);
});

it('drops the last replica when it is idle, and keeps the first', async () => {
  const { server, clock, driver } = serving;
  const { podId, load } = await deployBusy({ max_replicas: 2 });
  await load.end();
  clock.advance({ minutes: 9 });
  await meterDeployments(server.services);
  expect((await status(podId)).replicas).toBe(2);
  clock.advance({ minutes: 2 });
  await meterDeployments(server.services);
  expect(await status(podId)).toMatchObject({ replicas: 1, status: 'running' });
  expect(await answering(podId)).toBe(1);
  await expect.poll(() => driver.running(), patiently).toHaveLength(1);
  await serving.terminate(user, podId);
});

it('does not drop a replica that is still answering, and fills replicas in order', async () => {
  const { server, clock, stub } = serving;
  const { podId, load } = await deployBusy({ max_replicas: 2 });
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const client = new AbortController();
  stub.requests.length = 0;
  const slow = serving.ask(user, 'rye', { signal: client.signal }).catch(() => undefined);
  await vi.waitFor(() => expect(stub.requests).toHaveLength(1), patiently);
  await load.end();

  clock.advance({ minutes: 9 });
  vi.advanceTimersByTime(30_000);
  await vi.waitFor(async () => expect(await usedAt(podId)).toEqual(clock.now()), patiently);
  clock.advance({ minutes: 9 });
  await meterDeployments(server.services);
  expect((await status(podId)).replicas).toBe(2);
  client.abort();
  await slow;

  // The first replica can answer all of these requests, so the second becomes idle.
  stub.answer = 'ok';
  const answers = await Promise.all([1, 2, 3].map(() => serving.ask(user, 'rye')));
  expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200]);
  clock.advance({ minutes: 2 });
  await meterDeployments(server.services);
  expect((await status(podId)).replicas).toBe(1);
  await serving.terminate(user, podId);
});

it('adds no replica while another is starting, or if no slot is free', async () => {
  const { services } = serving.server;
  const { podId, load } = await deployBusy({ max_replicas: 3 });
  await addReplica(services, { capacity }, { podId, answering: 1 });
  expect((await status(podId)).replicas).toBe(2);
  // A user may have at most two model servers awake on the CPU.
  await addReplica(services, { capacity }, { podId, answering: 2 });
  expect((await status(podId)).replicas).toBe(2);
  await load.end();
  await serving.terminate(user, podId);
});

it('starts with the minimum number of replicas, and deletes their rows when it ends', async () => {
  const podId = await deploy({ auto_scale: true, min_replicas: 2, max_replicas: 2 });
  await vi.waitFor(async () => expect(await answering(podId)).toBe(2), patiently);
  await vi.waitFor(() => expect(serving.driver.running()).toHaveLength(2), patiently);
  const ended = await serving.terminate(user, podId);
  expect(ended).toMatchObject({ status: 'terminated', device: 'CPU' });
  expect(await workloadsOf(podId)).toEqual([null]);
});

/**
 * Creates a deployment with three ready replicas, which is more than a user may have on the CPU. Returns
 * their workloads.
 */
async function deployThree(): Promise<{ podId: string; workloads: (string | null)[] }> {
  const podId = await deploy({ auto_scale: true, max_replicas: 3 });
  await serving.untilRunning(user, podId);
  await inTransaction(serving.server.services.db, async (tx) => {
    const { model_server_id } = await lockDeployment(tx, podId);
    await setReplicas(tx, podId, { replicas: 3, now: serving.clock.now() });
    await reconcileModelServer(tx, serving.clock, model_server_id);
  });
  await vi.waitFor(async () => expect(await answering(podId)).toBe(3), patiently);
  return { podId, workloads: await workloadsOf(podId) };
}

/** Returns each replica's workload, in order. */
async function workloadsOf(podId: string): Promise<(string | null)[]> {
  const rows = await serving.server.services.db
    .selectFrom('model_servers')
    .select('workload_id')
    .where('deployment_id', '=', podId)
    .orderBy('replica')
    .execute();
  return rows.map((row) => row.workload_id);
}

/** Simulates a start of this workload that has failed repeatedly. */
async function fail(workloadId: string, podId: string): Promise<void> {
  await inTransaction(serving.server.services.db, async (tx) => {
    const { model_server_id } = await lockDeployment(tx, podId);
    // On a busy machine, the other workloads may not be ready yet, so mark them as ready.
    await tx
      .updateTable('workloads')
      .set({ state: 'ready' })
      .where('id', 'in', await workloadsOf(podId))
      .where('id', '<>', workloadId)
      .execute();
    await tx
      .updateTable('workloads')
      .set({ state: 'failed', reason: 'The disk is full', ended_at: serving.clock.now(), devices: null })
      .where('id', '=', workloadId)
      .execute();
    await reconcileModelServer(tx, serving.clock, model_server_id);
  });
}

it('locks the workloads of replicas in the order of their ids', async () => {
  const { podId, workloads } = await deployThree();
  const { db } = serving.server.services;
  const ids = workloads.filter((id) => id !== null).toSorted();
  const [first = '', , last = ''] = ids;
  const lockRow = (id: string) => sql`select from workloads where id = ${id} for update`;
  const [prepared, isTaken] = [Promise.withResolvers<number>(), Promise.withResolvers<void>()];
  const ending = inTransaction(db, async (tx) => {
    const { model_server_id } = await lockDeployment(tx, podId);
    const replicas = await tx
      .selectFrom('model_servers')
      .select('id')
      .where('deployment_id', '=', podId)
      .orderBy('replica', 'desc')
      .execute();
    // Assign the workloads in reverse order, so that the first replica has the last id.
    for (const [at, { id }] of replicas.entries())
      await setWorkloads(tx, id, { workload_id: ids[at] ?? null, next_workload_id: null });
    await setDeploymentEnded(tx, podId, { now: serving.clock.now(), failed: false, reason: 'Tried' });
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
    prepared.resolve(rows[0]?.pid ?? 0);
    await isTaken.promise;
    await reconcileModelServer(tx, serving.clock, model_server_id);
    throw new Error('not really');
  }).catch((error: unknown) => error);
  const pid = await prepared.promise;
  await inTransaction(db, async (tx) => {
    await lockRow(first).execute(tx);
    isTaken.resolve();
    await vi.waitFor(async () => {
      const { rows } = await sql`
        select from pg_stat_activity where pid = ${pid} and wait_event_type = 'Lock'`.execute(tx);
      expect(rows).toHaveLength(1);
    }, patiently);
    await sql`set local lock_timeout = '500ms'`.execute(tx);
    await lockRow(last).execute(tx);
  });
  expect(await ending).toMatchObject({ message: 'not really' });
  await serving.terminate(user, podId);
});

it.each([
  ['first', 0, [2, 1]],
  ['middle', 1, [0, 2]],
  ['last', 2, [0, 1]],
])('loses only the broken replica, if it is the %s', async (_which, broken, left) => {
  const { podId, workloads } = await deployThree();
  await fail(workloads[broken] ?? '', podId);
  expect(await status(podId)).toMatchObject({ replicas: 2, status: 'running' });
  expect(await workloadsOf(podId)).toEqual([...left.map((at) => workloads[at]), null]);
  await vi.waitFor(async () => expect(await answering(podId)).toBe(2), patiently);
  expect((await serving.ask(user, 'rye')).status).toBe(200);
  await serving.terminate(user, podId);
});

it('tries again only some minutes after there was no slot for a replica', async () => {
  const crowded = await testServing({ capacity: await capacity() });
  const { server, clock } = crowded;
  const owner = await server.signUp();
  for (const slug of ['white', 'brown', 'black', 'sour', 'spelt']) {
    await insertStarter(server.services, slug, `weights of ${slug}`);
    expect((await crowded.ask(owner, slug)).status).toBe(200);
  }
  const { assetId } = await insertModel(server.services, owner, 'Rye', { 'model.gguf': 'weights' });
  const body = { model_id: assetId, user_id: owner.userId, auto_scale: true, max_replicas: 2 };
  const { pod_id: podId } = await server.request(deployVllm, { body }, { as: owner });
  await crowded.untilRunning(owner, podId);
  const ask = () => addReplica(server.services, { capacity }, { podId, answering: 1 });
  const made = async () => (await server.services.db.selectFrom('workloads').select('id').execute()).length;
  const untilDropped = () =>
    vi.waitFor(
      async () =>
        expect(await crowded.status(owner, podId)).toMatchObject({ replicas: 1, status: 'running' }),
      patiently,
    );

  await ask();
  expect(await made()).toBe(7);
  await untilDropped();
  await ask();
  clock.advance({ minutes: 4 });
  await ask();
  expect(await made()).toBe(7);
  clock.advance({ minutes: 2 });
  await ask();
  expect(await made()).toBe(8);
  await untilDropped();
  await crowded.terminate(owner, podId);
});
