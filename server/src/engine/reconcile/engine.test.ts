import { beforeEach, describe, expect, test, vi } from 'vitest';
import { connect } from '../../platform/db/database.ts';
import { onFileEnd } from '../../testing/on-file-end.ts';
import type { Driver } from '../drivers/driver.ts';
import { idleUntilStopped, type Script } from '../drivers/fake/fake-driver.ts';
import { createEngine } from '../engine.ts';
import { complete, testEngine, type Unnumbered } from '../testing/test-engine.ts';

const {
  db,
  events,
  log,
  clock,
  machineId,
  kinds,
  pass,
  passListening,
  engineOn,
  world,
  report,
  request,
  stop,
  see,
  reach,
} = await testEngine();

beforeEach(async () => {
  await db.deleteFrom('workloads').execute();
});

describe('the server', () => {
  test('waits for the next tick while the database is unavailable', async () => {
    const away = connect('postgresql://127.0.0.1:1/away');
    const driver = { ...world(idleUntilStopped).driver, endsWithServer: false };
    const engine = createEngine(
      { db: away, clock, events, log },
      { driver, kinds, machineId, serverUrl: async () => '' },
    );
    onFileEnd(async () => {
      await engine.shutdown();
      await away.destroy();
    });
    await expect(engine.pass()).rejects.toThrow('ECONNREFUSED');
  });

  test('shuts down gracefully: work is saved, nothing counts as a failure, and all work resumes', async () => {
    let saved = 0;
    const script: Script = async (launch, process) => {
      await report(launch, complete[1] as Unnumbered);
      await idleUntilStopped(launch, process);
      saved += 1;
      return 0;
    };
    const { engine, driver } = world(script);
    const id = await request();
    await engine.start();
    await vi.waitFor(async () => expect(await see(id)).toMatchObject({ state: 'ready' }));
    await engine.shutdown();
    expect(saved).toBe(1);
    expect(driver.running()).toEqual([]);

    const next = engineOn(driver);
    pass(10);
    await next.pass();
    expect(await see(id)).toMatchObject({ attempt: 2, restarts: 1, failures: 0 });
    expect(driver.running()).toHaveLength(1);
  });

  test('is woken by a request, without waiting for a tick', async () => {
    const { engine, driver } = world(idleUntilStopped);
    await engine.start();
    await request();
    await vi.waitFor(() => expect(driver.running()).toHaveLength(1));
    await engine.shutdown();
  });

  // Points at which a server dies: its call to the driver never returns. 'before': the call had no effect
  // yet. 'after': the call had its effect, but the server did not record it.
  const deaths: [keyof Driver & ('observe' | 'start' | 'stop' | 'kill'), 'before' | 'after'][] = [
    ['observe', 'after'],
    ['start', 'before'],
    ['start', 'after'],
    ['stop', 'before'],
    ['stop', 'after'],
    ['kill', 'before'],
    ['kill', 'after'],
  ];
  test.each(deaths)('may die in %s (%s its effect) and another server continues', async (method, when) => {
    const script: Script = async (launch, process) => {
      await report(launch, { type: 'ready', base_url: 'http://127.0.0.1:1' });
      // This process only exits when it is killed.
      const signal = method === 'kill' ? new AbortController().signal : process.stop;
      return idleUntilStopped(launch, { ...process, stop: signal });
    };
    const { driver } = world(script);
    const reached = Promise.withResolvers<void>();
    const stuck = Promise.withResolvers<void>();
    const call = (...args: never[]) => (driver[method] as (...args: never[]) => Promise<unknown>)(...args);
    const dying = engineOn({
      ...driver,
      [method]: async (...args: never[]) => {
        const answer = when === 'after' ? await call(...args) : undefined;
        reached.resolve();
        await stuck.promise;
        return when === 'before' ? call(...args) : answer;
      },
    });
    const goneOn = engineOn(driver);
    const id = await request({ behaviour: 'deployment' });
    if (method !== 'start') {
      await reach(goneOn, id, { state: 'ready' });
      if (method === 'stop' || method === 'kill') await stop(id);
      if (method === 'kill') await reach(goneOn, id, { state: 'stopping' });
      await passListening(60);
    }
    const lost = dying.pass();
    await reached.promise;

    // When the lease has expired, another server takes over and completes the step.
    if (method === 'observe' || method === 'start') {
      pass(16);
      // It adopts an attempt that was started. If the attempt was not started, it begins the next one.
      const attempt = method === 'start' && when === 'before' ? 2 : 1;
      await reach(goneOn, id, { baseUrl: 'http://127.0.0.1:1', attempt, endedAt: null });
      expect(driver.running()).toHaveLength(1);
      await stop(id);
    }
    await reach(goneOn, id, { state: 'stopped' }, 16);
    expect(driver.running()).toEqual([]);

    // If the first server was only slow, its late return must not change anything.
    const before = await see(id);
    stuck.resolve();
    await lost;
    expect(await see(id)).toEqual(before);
    expect(driver.running()).toEqual([]);
  });
});
