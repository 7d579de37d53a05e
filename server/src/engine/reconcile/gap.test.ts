import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Launch } from '../drivers/driver.ts';
import { idleUntilStopped } from '../drivers/fake/fake-driver.ts';
import { complete, testEngine, type Unnumbered } from '../testing/test-engine.ts';
import { testHeartbeat } from '../testing/test-machine.ts';

const { db, clock, machineId, pass, beat, passListening, engineOn, world, report, request, see, reach } =
  await testEngine();

beforeEach(async () => {
  await db.deleteFrom('workloads').execute();
  await db.deleteFrom('processes').execute();
});

describe('a gap', () => {
  const unharmed = Array.from({ length: 2 }, () => ({ attempt: 1, failures: 0, alive: 2 }));

  /**
   * Starts a run and a deployment. Returns them with a function that makes a pass and returns their states.
   */
  async function working() {
    const launches: Launch[] = [];
    const { engine, driver } = world(async (launch, process) => {
      launches.push(launch);
      await report(launch, complete[1] as Unnumbered, { type: 'ready', base_url: 'http://127.0.0.1:1' });
      return idleUntilStopped(launch, process);
    });
    await beat();
    const ids = [await request(), await request({ behaviour: 'deployment' })];
    for (const id of ids) await reach(engine, id, { state: 'ready' });
    await passListening(30);
    await Promise.all(launches.map((launch) => report(launch)));
    /** Makes a pass and returns the states after it. */
    const afterPass = async () => {
      await engine.pass();
      const now = await Promise.all(ids.map(see));
      return now.map(({ attempt, failures }) => ({ attempt, failures, alive: driver.running().length }));
    };
    return { engine, driver, ids, launches, afterPass };
  }

  test.each([16, 60, 332, 360, 3600])(
    'of %i s without accepted reports does not affect work that reports again afterwards',
    async (seconds) => {
      const { launches, afterPass } = await working();
      pass(seconds);
      // The first pass may come before any heartbeat, or in a process that never noticed the gap.
      expect(await afterPass()).toEqual(unharmed);
      await beat();
      expect(await afterPass()).toEqual(unharmed);
      await passListening(290);
      expect(await afterPass()).toEqual(unharmed);
      await Promise.all(launches.map((launch) => report(launch)));
      expect(await afterPass()).toEqual(unharmed);
    },
  );

  test('of six minutes does not excuse work that stays silent after it', async () => {
    const { engine, ids } = await working();
    pass(360);
    await beat();
    await passListening(330);
    await engine.pass();
    await engine.pass();
    const states = (await Promise.all(ids.map(see))).map(({ attempt, failures }) => ({ attempt, failures }));
    expect(states).toEqual([
      { attempt: 1, failures: 1 },
      { attempt: 1, failures: 1 },
    ]);
  });

  test('in the process that they report to costs no attempt: they restart with a live process', async () => {
    const [first, second] = ['http://10.0.0.1:4080', 'http://10.0.0.1:4081'];
    const firstId = randomUUID();
    const told: string[] = [];
    const { driver } = world(async (launch, process) => {
      told.push(launch.server.base_url);
      await report(launch, complete[1] as Unnumbered, { type: 'ready', base_url: 'http://127.0.0.1:1' });
      return idleUntilStopped(launch, process);
    });
    const engine = engineOn(driver, { serverUrl: async () => (told.length === 0 ? first : second) });
    const id = await request();
    const listen = async (seconds: number, firstListens: boolean) => {
      for (let left = seconds; left > 0; left -= 5) {
        pass(5);
        await testHeartbeat(db, machineId, clock.now(), { url: second });
        if (firstListens) await testHeartbeat(db, machineId, clock.now(), { id: firstId, url: first });
      }
    };
    await listen(30, true);
    await reach(engine, id, { state: 'ready', serverUrl: first });

    await listen(290, false);
    await engine.pass();
    expect(await see(id)).toMatchObject({ attempt: 1, killedFor: null });
    await listen(20, false);
    await reach(engine, id, { attempt: 2, state: 'ready', serverUrl: second, failures: 0, restarts: 1 });
  });

  test('in the claim stops the server: it reconciles nothing until the claim is reacquired', async () => {
    const { driver } = world(idleUntilStopped);
    let isHeld = false;
    const engine = engineOn(driver, { mayWork: () => isHeld });
    const id = await request();
    await engine.pass();
    expect(await see(id)).toMatchObject({ state: 'queued', attempt: 0 });
    isHeld = true;
    await reach(engine, id, { state: 'starting' });
  });
});
