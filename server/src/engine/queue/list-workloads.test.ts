import { expect, test } from 'vitest';
import { idleUntilStopped } from '../drivers/fake/fake-driver.ts';
import { updateWorkload } from '../queries.ts';
import { testEngine } from '../testing/test-engine.ts';
import { listWorkloads } from './list-workloads.ts';

const { db, clock, world, request, reach, stop, machineId, pass } = await testEngine();
const look = () => listWorkloads({ db, now: clock.now() });

test('lists work with slots first, then the queue in order, and no names', async () => {
  await db
    .insertInto('users')
    .values([{ id: 'ada', name: 'Ada', username: 'ada', email: 'ada@example.org' }])
    .execute();
  const { engine } = world(idleUntilStopped);
  const first = await request({ userId: 'ada', title: 'a secret recipe' });
  await reach(engine, first, { state: 'starting' });
  pass(5);
  const second = await request({ userId: 'ada', title: 'another one' });
  pass(5);
  const third = await request({ userId: 'ada', title: 'a third one' });
  await engine.pass();
  const resting = await request({ userId: 'ada', title: 'one that failed' });
  await db.transaction().execute((tx) =>
    updateWorkload(tx, resting, {
      reason: "ValueError: 'my secret row'",
      failures: 2,
      notBefore: new Date(clock.now().getTime() + 60_000),
    }),
  );

  const listed = await look();
  expect(listed).toMatchObject([
    { id: first, userId: 'ada', state: 'starting', reason: '', position: null, machineName: 'oven' },
    {
      id: second,
      state: 'queued',
      reason: 'Waiting for the CPU, next in line: 1 workload is using all available slots.',
      position: 1,
      machineName: null,
    },
    { id: third, reason: expect.stringContaining('number 2 in line'), position: 2 },
    {
      id: resting,
      reason: 'It failed 2 times in a row and is started again after a pause.',
      position: null,
    },
  ]);
  expect(JSON.stringify(listed)).not.toMatch(/secret|another one|third one/);
  expect(Number(listed[2]?.since) - Number(listed[1]?.since)).toBe(5000);
  expect(machineId).toBeTruthy();

  await stop(third);
  expect((await look()).find(({ id }) => id === third)).toMatchObject({ position: null });
});
