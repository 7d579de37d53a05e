import { deployVllm } from '@bakehouse/contract/deployments/text';
import { listNotifications } from '@bakehouse/contract/notifications';
import { beforeAll, expect, it, vi } from 'vitest';
import { stopWorkload } from '../../../engine/request-workload.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import type { TestUser } from '../../../testing/test-server.ts';
import { type TestServing, testServing } from '../../../testing/test-serving.ts';
import { readRevision } from '../../assets/read-revision.ts';
import { meterDeployments } from '../metering/meter-deployments.ts';
import { insertFineTune, insertStarter } from '../testing/test-models.ts';

const STARTER = 'starter-model';
const IDLE_MINUTES = 2;
const patiently = { interval: 50 };

let serving: TestServing;
let user: TestUser;
let starter: { assetId: string; revisionId: string };

beforeAll(async () => {
  serving = await testServing({ config: { idleMinutes: IDLE_MINUTES } });
  starter = await insertStarter(serving.server.services, STARTER);
  user = await serving.server.signUp();
});

/** Returns the kinds of the owner's notifications about this deployment. */
async function notificationsOf(podId: string): Promise<string[]> {
  const { userId } = user;
  const notifications = await serving.server.request(listNotifications, { params: { userId } }, { as: user });
  return notifications.filter(({ link }) => link === `/my-deployments/${podId}`).map(({ kind }) => kind);
}

/** Time for the engine's retries, whose pauses grow. */
async function passTime(until: () => Promise<void>): Promise<void> {
  await vi.waitFor(async () => {
    serving.clock.advance({ minutes: 1 });
    await serving.server.app.engine.pass();
    await until();
  }, patiently);
}

it('a deployment that has served before sleeps if its model server cannot start, and serves again when it can', async () => {
  const { clock, server, stub, driver } = serving;
  const podId = await serving.deploy(user, await insertFineTune(server.services, starter, user, 'Old Rye'));
  await serving.untilRunning(user, podId);
  clock.advance({ minutes: IDLE_MINUTES + 1 });
  await meterDeployments(server.services);
  expect((await serving.status(user, podId)).status).toBe('sleeping');
  await vi.waitFor(() => expect(driver.running()).toEqual([]), patiently);

  stub.failure = 'The disk is full';
  const asked = serving.ask(user, 'old-rye');
  await passTime(async () =>
    expect(await serving.status(user, podId)).toMatchObject({
      status: 'sleeping',
      reason: expect.stringContaining('The disk is full'),
    }),
  );
  expect((await asked).status).toBe(503);
  await expect.poll(async () => (await serving.balance(user)).held, patiently).toBe(0n);

  stub.failure = null;
  expect((await serving.ask(user, 'old-rye')).status).toBe(200);
  expect(await notificationsOf(podId)).toEqual(['deployment_ready']);
  await serving.terminate(user, podId);
});

it('a deployment that never sleeps is retried with growing pauses until it serves', async () => {
  const { clock, server, stub } = serving;
  const modelId = await insertFineTune(server.services, starter, user, 'Steady Rye');
  const body = { model_id: modelId, user_id: user.userId, auto_scale: true };
  const { pod_id: podId } = await server.request(deployVllm, { body }, { as: user });
  await serving.untilRunning(user, podId);

  // Simulates the state after a failure: the server has released its slot.
  stub.failure = 'The disk is full';
  const { db } = server.services;
  const workloads = () =>
    db.selectFrom('workloads').select(['id', 'state', 'not_before', 'created_at']).orderBy('created_at');
  const live = () => workloads().where('ended_at', 'is', null).executeTakeFirst();
  const first = await live();
  const known = (await workloads().execute()).length;
  await inTransaction(db, (tx) =>
    stopWorkload(tx, { id: first?.id ?? '', reason: 'It makes room', now: clock.now() }),
  );
  const pauses: number[] = [];
  for (const count of [2, 3, 4]) {
    await vi.waitFor(async () => {
      await server.app.engine.pass();
      expect((await workloads().execute()).length).toBe(known + count);
    }, patiently);
    const next = await live();
    pauses.push((next?.not_before.getTime() ?? 0) - (next?.created_at.getTime() ?? 0));
    expect(await serving.status(user, podId)).toMatchObject({
      status: 'queued',
      reason: expect.stringContaining('The disk is full'),
    });
    if (count === 4) stub.failure = null;
    clock.advance({ milliseconds: pauses.at(-1) ?? 0 });
  }
  expect(pauses).toEqual([5_000, 10_000, 20_000]);
  await serving.untilRunning(user, podId);
  expect(await notificationsOf(podId)).toEqual(['deployment_ready']);
  await serving.terminate(user, podId);
});

it("the starter model keeps running if a user's only deployment on it is broken", async () => {
  const { driver, server, stub } = serving;
  expect((await serving.ask(user, STARTER)).status).toBe(200);
  const before = driver.running().map(({ workloadId }) => workloadId);
  const broken = await insertFineTune(server.services, starter, user, 'Bad Rye');
  const { revision } = await readRevision(server.services.db, { assetId: broken, userId: user.userId });
  stub.brokenAdapter = revision.id;
  const podId = await serving.deploy(user, broken);
  await passTime(async () => {
    // Requests continue.
    expect((await serving.ask(user, STARTER)).status).toBe(200);
    expect((await serving.status(user, podId)).status).toBe('failed');
  });
  expect(await notificationsOf(podId)).toEqual(['deployment_failed']);
  expect((await serving.ask(user, STARTER)).status).toBe(200);
  expect(driver.running().map(({ workloadId }) => workloadId)).toEqual(before);
});
