import { setTimeout as pause } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Launch } from '../drivers/driver.ts';
import { idleUntilStopped } from '../drivers/fake/fake-driver.ts';
import { selectLogLines } from '../reports/attempt-log.ts';
import { testEngine } from '../testing/test-engine.ts';

const { db, engineOn, pass, passListening, world, report, request, stop, see, reach } = await testEngine();

beforeEach(async () => {
  await db.deleteFrom('workloads').execute();
});

describe('a deployment', () => {
  test('is kept running: degraded while silent, restarted when it dies, stopped when asked', async () => {
    const launches: Launch[] = [];
    const { engine, driver } = world(async (launch, process) => {
      launches.push(launch);
      process.print(`listening ${launches.length}`);
      await report(launch, { type: 'ready', base_url: `http://127.0.0.1:${launches.length}` });
      return idleUntilStopped(launch, process);
    });
    const id = await request({ behaviour: 'deployment' });
    await reach(engine, id, { state: 'ready', baseUrl: 'http://127.0.0.1:1' });
    await passListening(60);
    await reach(engine, id, { state: 'degraded' });
    await report(launches[0] as Launch);
    expect(await see(id)).toMatchObject({ state: 'ready', reason: '' });
    await driver.kill(id, 1);
    await reach(engine, id, { state: 'queued', baseUrl: null });
    pass(6);
    await reach(engine, id, { state: 'ready', baseUrl: 'http://127.0.0.1:2', restarts: 1 });
    await stop(id);
    await reach(engine, id, { state: 'stopped' });
    // Its output is its log, and is retained.
    const lines = (await selectLogLines(db, id, 9)).map(({ line }) => line);
    expect(lines.filter((line) => line.startsWith('listening'))).toEqual(['listening 1', 'listening 2']);
  });

  test('requires its own key, or the shared key behind a router', async () => {
    const launches: Launch[] = [];
    const { driver } = world(async (launch, process) => {
      launches.push(launch);
      await report(launch, { type: 'ready', base_url: 'http://127.0.0.1:1' });
      return idleUntilStopped(launch, process);
    });
    const deploymentId = '0197f3a2-6c1e-7d50-9b57-3f1f5e0f7a11';
    const own = expect.stringMatching(/^.{32,}$/);
    const routed = (id: string) => ({ routers: new Map([[id, 'http://router']]), key: 'one of all' });
    for (const routing of [routed(deploymentId), routed('another'), null]) {
      const id = await request({ behaviour: 'deployment', deploymentId });
      await reach(engineOn(driver, { routing }), id, { state: 'ready' });
      await db.deleteFrom('workloads').where('id', '=', id).execute();
    }
    const shared = await request({ behaviour: 'deployment' });
    await reach(engineOn(driver, { routing: routed(deploymentId) }), shared, { state: 'ready' });
    expect(launches).toMatchObject([
      { deploymentId, serverKey: 'one of all' },
      ...[1, 2, 3].map(() => ({ deploymentId: null, serverKey: own })),
    ]);
  });

  test('that was ever ready is restarted after any failure, and reports when', async () => {
    let broken = false;
    const { engine, driver } = world(async (launch, process) => {
      if (broken) {
        await report(launch, { type: 'failed', message: 'There is no GPU.' });
        return 1;
      }
      await report(launch, { type: 'ready', base_url: 'http://127.0.0.1:1' });
      return idleUntilStopped(launch, process);
    });
    const id = await request({ behaviour: 'deployment' });
    await reach(engine, id, { state: 'ready' });
    broken = true;
    await driver.kill(id, 1);
    for (const seconds of [5, 10, 20, 40, 80, 160, 300, 300]) {
      await reach(engine, id, {
        state: 'queued',
        endedAt: null,
        reason: expect.stringContaining(`It starts again in ${seconds} s.`),
      });
      pass(seconds);
    }
    broken = false;
    await reach(engine, id, { state: 'ready', reason: '' });
  });

  test('that may finish open requests receives the time limit, and no signal', async () => {
    const told: unknown[] = [];
    const { engine } = world(async (launch, process) => {
      told.push(await report(launch, { type: 'ready', base_url: 'http://127.0.0.1:1' }));
      for (;;) {
        const answer = await report(launch);
        told.push(process.stop.aborted ? 'signal' : answer);
        if (answer.command === 'stop') return 0;
        await pause(20);
      }
    });
    const id = await request({ behaviour: 'deployment' });
    await reach(engine, id, { state: 'ready' });
    await stop(id, 600);
    await reach(engine, id, { state: 'stopped' });
    expect(told[0]).toMatchObject({ command: 'continue' });
    expect(told[0]).not.toHaveProperty('drain_seconds');
    expect(told.at(-1)).toMatchObject({ command: 'stop', drain_seconds: 600 });
  });

  test('that is killed states the reason, in its log and while it waits for the next start', async () => {
    const { engine } = world(async (launch, process) => {
      await report(launch, { type: 'ready', base_url: 'http://127.0.0.1:1' });
      return idleUntilStopped(launch, process);
    });
    const id = await request({ behaviour: 'deployment' });
    await reach(engine, id, { state: 'ready' });
    await passListening(400);
    const reason = 'It was silent for 5 minutes. It starts again in 5 s.';
    await reach(engine, id, { state: 'queued', reason });
    const lines = (await selectLogLines(db, id, 9)).map(({ line }) => line);
    expect(lines).toEqual(['It was silent for 5 minutes', reason]);
  });

  test('that was never ready fails permanently', async () => {
    const { engine } = world(async () => 1);
    const id = await request({ behaviour: 'deployment' });
    await reach(engine, id, { state: 'failed', attempt: 5 }, 20);
    expect(await see(id)).toMatchObject({ restarts: 4, readyAt: null });
  });
});
