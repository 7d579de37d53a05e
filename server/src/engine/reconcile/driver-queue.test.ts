import { beforeEach, expect, test, vi } from 'vitest';
import { CannotStartError, type Driver, type Launch } from '../drivers/driver.ts';
import { createFakeDriver, idleUntilStopped } from '../drivers/fake/fake-driver.ts';
import type { Observed } from '../model/observed.ts';
import { updateWorkload } from '../queries.ts';
import { listWorkloads } from '../queue/list-workloads.ts';
import { testEngine } from '../testing/test-engine.ts';

/* Work whose driver has its own queue. */

const world = await testEngine();
const fake = createFakeDriver({
  capacity: { 'cpu:run': 1, 'cpu:deployment': 1 },
  script: idleUntilStopped,
});
/** The state that the cluster reports for started work; null to use the state of the fake driver. */
let seen: Observed | null = null;
const started: Launch[] = [];
const driver: Driver = {
  ...fake,
  admission: 'driver',
  start: async (launch) => {
    started.push(launch);
    await fake.start(launch);
  },
  observe: async (id, attempt) => seen ?? fake.observe(id, attempt),
  tidy: vi.fn(async () => undefined),
};
const engine = world.engineOn(driver);

beforeEach(() => {
  seen = { state: 'pending', reason: '' };
  started.length = 0;
  world.onChange.mockClear();
});

const reasons = () => world.onChange.mock.calls.map(([, { state, reason }]) => `${state}: ${reason}`);

test("work in a driver's own queue is queued there only, and is written when the driver's reason changes", async () => {
  const id = await world.request({ userId: null });
  await world.reach(engine, id, { state: 'queued', devices: [], attempt: 1 });
  expect(started).toMatchObject([{ userId: null, placement: { accelerator: null, count: 0 }, devices: [] }]);
  expect(reasons()).toEqual(['scheduling: ', 'queued: ']);

  seen = { state: 'pending', reason: 'The quota of GPUs is used up' };
  await world.reach(engine, id, { state: 'queued', reason: 'The quota of GPUs is used up' }, 30);
  const before = await world.see(id);
  // The driver reports no change, so only the lease is written.
  world.pass(30);
  await engine.pass();
  expect(await world.see(id)).toMatchObject({ attempt: 1, attemptStartedAt: before.attemptStartedAt });
  expect(reasons().slice(2)).toEqual(['queued: The quota of GPUs is used up']);
  expect(await listWorkloads({ db: world.db, now: world.clock.now() })).toMatchObject([
    { id, state: 'queued', reason: 'The quota of GPUs is used up', position: null, machineName: 'oven' },
  ]);

  seen = { state: 'alive' };
  world.pass(30);
  await engine.pass();
  expect(await world.see(id)).toMatchObject({
    state: 'starting',
    reason: '',
    attemptStartedAt: world.clock.now(),
  });
  await world.stop(id);
  seen = null;
  await world.reach(engine, id, { state: 'stopped' }, 3);
});

test('is not observed before its lease ends, unless its driver reports a change', async () => {
  const id = await world.request();
  await world.reach(engine, id, { state: 'queued', devices: [] });
  world.pass(30);
  await engine.pass();
  const look = vi.spyOn(driver, 'observe');
  world.pass(29);
  await engine.pass();
  expect(look).not.toHaveBeenCalled();
  world.pass(1);
  await engine.pass();
  expect(look).toHaveBeenCalledOnce();
  look.mockRestore();
  await world.stop(id);
  seen = null;
  await world.reach(engine, id, { state: 'stopped' }, 3);
});

test('its first report shows that it has begun, even before it is observed', async () => {
  const id = await world.request();
  await world.reach(engine, id, { state: 'queued', devices: [] });
  world.pass(20);
  const [launch] = started;
  if (!launch) throw new Error('nothing was started');
  await world.report(launch, { type: 'phase', phase: 'pulling inputs' });
  expect(await world.see(id)).toMatchObject({ state: 'pulling', attemptStartedAt: world.clock.now() });
  await world.stop(id);
  seen = null;
  await world.reach(engine, id, { state: 'stopped' }, 3);
});

test("work cancelled in the driver's queue ends as stopped", async () => {
  const id = await world.request();
  await world.reach(engine, id, { state: 'queued', devices: [] });
  await world.stop(id);
  await world.reach(engine, id, { state: 'stopping' });
  seen = { state: 'absent' };
  await world.reach(engine, id, { state: 'stopped' }, 3);
  expect(await world.see(id)).toMatchObject({ reason: 'Cancelled', restarts: 0 });
});

test('work evicted with its folder resumes from its upload, and is only charged up to there', async () => {
  const id = await world.request();
  await world.reach(engine, id, { state: 'queued', devices: [] });
  await world.db.transaction().execute((tx) =>
    updateWorkload(tx, id, {
      state: 'ready',
      activeSeconds: 900,
      savedSeconds: 900,
      checkpointSeconds: 300,
    }),
  );
  seen = { state: 'ended', by: 'preempted', exitCode: 137, lastLine: null, folder: 'gone' };
  await world.reach(engine, id, { state: 'queued', devices: null, failures: 0, restarts: 1 }, 3);
  expect(await world.see(id)).toMatchObject({ activeSeconds: 300, savedSeconds: 300 });
  // Reports of its process are rejected; the process may still run on an unreachable node.
  const [launch] = started;
  if (!launch) throw new Error('nothing was started');
  await expect(world.report(launch, { type: 'phase', phase: 'training' })).rejects.toThrow();
  await world.stop(id);
  await world.reach(engine, id, { state: 'stopped' }, 3);
});

test('does not adopt an abandoned attempt again, even if it still exists', async () => {
  const start = vi.spyOn(driver, 'start').mockImplementationOnce(async (launch) => {
    started.push(launch);
    throw new Error('The connection was lost');
  });
  const id = await world.request();
  await world.reach(engine, id, { state: 'queued', devices: null, attempt: 1 });
  await world.reach(engine, id, { state: 'queued', devices: [], attempt: 2 }, 5);
  expect(started.map(({ attempt }) => attempt)).toEqual([1, 2]);
  start.mockRestore();
  await world.stop(id);
  seen = null;
  await world.reach(engine, id, { state: 'stopped' }, 3);
});

test('work that cannot start reports why, and does not block other work', async () => {
  seen = null;
  const refuse = vi.spyOn(driver, 'start').mockRejectedValue(new CannotStartError('no node has an H100 now'));
  const id = await world.request();
  const reason = expect.stringMatching(/^It could not be started: no node has an H100 now\. Trying again/);
  await world.reach(engine, id, { state: 'queued', devices: null, reason, failures: 0 }, 5);
  for (let tries = 0; tries < 4; tries += 1) {
    world.pass(60);
    await engine.pass();
  }
  expect(refuse.mock.calls.length).toBeGreaterThan(3);
  const { offer } = await world.db
    .selectFrom('machines')
    .select('offer')
    .where('id', '=', world.machineId)
    .executeTakeFirstOrThrow();
  expect(offer).toMatchObject({ trouble: null });
  refuse.mockRestore();
  await world.stop(id);
  await world.reach(engine, id, { state: 'stopped' }, 3);
});

test('a model server is reachable at the address seen by its driver and the port that it reports', async () => {
  await world.db.updateTable('machines').set({ host: '' }).where('id', '=', world.machineId).execute();
  const id = await world.request({ behaviour: 'deployment' });
  await world.reach(engine, id, { state: 'queued', devices: [] });
  const [launch] = started;
  if (!launch) throw new Error('nothing was started');
  const ready = (base_url: string) => world.report(launch, { type: 'ready', base_url });
  await expect(ready('http://0.0.0.0:8000/')).rejects.toMatchObject({ code: 'unavailable' });

  seen = { state: 'alive', address: '10.0.0.7' };
  await world.reach(engine, id, { state: 'starting', address: '10.0.0.7' }, 30);
  await expect(ready('https://0.0.0.0:8000/')).rejects.toMatchObject({ code: 'invalid_request' });
  await expect(ready('http://0.0.0.0:8000/admin')).rejects.toMatchObject({ code: 'invalid_request' });
  await ready('http://0.0.0.0:8000/');
  expect(await world.see(id)).toMatchObject({ state: 'ready', baseUrl: 'http://10.0.0.7:8000' });
  await world.stop(id);
  seen = null;
  await world.reach(engine, id, { state: 'stopped' }, 3);
});
