import { expect, test } from 'vitest';
import type { Launch } from '../drivers/driver.ts';
import { createFakeDriver, idleUntilStopped } from '../drivers/fake/fake-driver.ts';
import { testEngine } from '../testing/test-engine.ts';

const { engineOn, request, report, see, stop, passListening } = await testEngine();

test('a run without CPU time reports that, is not killed as hung, and clears the reason afterwards', async () => {
  let starved = false;
  const launches: Launch[] = [];
  const driver = createFakeDriver({
    capacity: { 'cpu:run': 1 },
    script: (launch, process) => {
      launches.push(launch);
      return idleUntilStopped(launch, process);
    },
  });
  const engine = engineOn({
    ...driver,
    // In this test the run never receives the stop request.
    stop: async () => undefined,
    observe: async (id, attempt) => {
      const seen = await driver.observe(id, attempt);
      return seen.state === 'alive' ? { ...seen, starved } : seen;
    },
  });
  const look = async (seconds: number) => {
    await passListening(seconds);
    await engine.pass();
  };
  const id = await request();
  await look(1);
  await look(4);
  expect(await see(id)).toMatchObject({ state: 'starting', reason: '' });
  starved = true;
  const reason = 'Waiting for processor time: other programs keep this machine busy.';
  for (let minute = 0; minute < 10; minute += 1) {
    await look(60);
    expect(await see(id)).toMatchObject({ state: 'starting', reason, killedFor: null });
  }
  starved = false;
  await report(launches[0] as Launch, { type: 'checkpoint', step: 0 });
  await look(4);
  expect(await see(id)).toMatchObject({ state: 'starting', reason: '' });

  // A starved run gets more time to save its work.
  starved = true;
  await stop(id);
  await look(1);
  await look(600);
  expect(await see(id)).toMatchObject({ state: 'stopping', killedFor: null });
  await look(400);
  expect(await see(id)).toMatchObject({ killedFor: 'overdue' });
});
