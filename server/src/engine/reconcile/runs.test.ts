import { beforeEach, describe, expect, test } from 'vitest';
import type { Launch } from '../drivers/driver.ts';
import { idleUntilStopped } from '../drivers/fake/fake-driver.ts';
import { findInput, upsertArtefact } from '../files/file-queries.ts';
import { selectLogLines, selectMetrics } from '../reports/attempt-log.ts';
import { complete, testEngine, type Unnumbered } from '../testing/test-engine.ts';

const { db, onResult, pass, engineOn, world, report, request, stop, see, reach } = await testEngine();

beforeEach(async () => {
  await db.deleteFrom('workloads').execute();
});

describe('a run', () => {
  test('is queued, started, reports, and completes', async () => {
    onResult.mockClear();
    const { engine, driver } = world(async (launch) => {
      await report(launch, ...complete);
      return 0;
    });
    const id = await request();
    expect(await see(id)).toMatchObject({ state: 'queued', attempt: 0 });
    await engine.pass();
    expect(await see(id)).toMatchObject({ attempt: 1 });
    const end = { state: 'completed', step: 2, stepsTotal: 2, restarts: 0, devices: null, acceptedSeq: 7 };
    await reach(engine, id, end);
    expect(onResult).toHaveBeenCalledOnce();
    expect(await selectMetrics(db, id)).toMatchObject([{ values: { loss: 2 } }, { values: { loss: 1 } }]);
    expect(await selectLogLines(db, id, 5)).toMatchObject([{ line: 'done' }]);
    expect(driver.running()).toEqual([]);
  });

  test('waits with a reason, and starts when the slot is free', async () => {
    const { engine } = world(idleUntilStopped);
    const first = await request();
    pass(1);
    const second = await request();
    await engine.pass();
    expect(await see(first)).toMatchObject({ state: 'starting' });
    expect(await see(second)).toMatchObject({
      state: 'queued',
      reason: 'Waiting for the CPU, next in line: 1 workload is using all available slots.',
    });
    await stop(first);
    await reach(engine, first, { state: 'stopped', reason: 'Cancelled' });
    await reach(engine, second, { state: 'starting', reason: '' });
  });

  test('that waits gets an estimate only while the end of the blocking run is known', async () => {
    const launches: Launch[] = [];
    const { engine } = world((begun, process) => {
      launches.push(begun);
      return idleUntilStopped(begun, process);
    });
    await request({ expectedSeconds: 60 });
    pass(1);
    const waiting = await request({ expectedSeconds: 60 });
    const told = async () => {
      await engine.pass();
      return (await see(waiting)).reason.replace(/.*available slots\./, '');
    };
    expect(await told()).toBe('');
    await report(
      launches[0] as Launch,
      { type: 'phase', phase: 'training' },
      { type: 'progress', done: 1, total: 9, unit: 'steps', remaining_seconds: 300 },
    );
    expect(await told()).toBe(' Free in about 5 min.');
    pass(120);
    expect(await told()).toBe(' Free in about 3 min.');
    pass(180);
    expect(await told()).toBe(' Free soon.');
  });

  test('that is cancelled while it waits ends immediately', async () => {
    const { engine } = world(idleUntilStopped, async () => ({}));
    const id = await request();
    await engine.pass();
    await stop(id);
    await engine.pass();
    expect(await see(id)).toMatchObject({ state: 'stopped', attempt: 0 });
  });

  test('is told to stop, and ends stopped', async () => {
    const seen: string[] = [];
    const { engine } = world(async (launch, process) => {
      await report(launch, complete[1] as Unnumbered);
      await idleUntilStopped(launch, process);
      seen.push((await see(launch.workloadId)).state);
      seen.push(
        (await report(launch, { type: 'checkpoint', step: 1 }, { type: 'stopped', step: 1 })).command,
      );
      return 0;
    });
    const id = await request();
    await reach(engine, id, { state: 'ready' });
    await stop(id);
    await reach(engine, id, { state: 'stopped', outcome: expect.objectContaining({ type: 'stopped' }) });
    expect(seen).toEqual(['stopping', 'stop']);
  });

  test('does not retry explicit failures', async () => {
    const { engine } = world(async (launch) => {
      await report(launch, { type: 'failed', message: 'The file holds no rows.' });
      return 1;
    });
    const id = await request();
    await reach(engine, id, { state: 'failed', reason: 'The file holds no rows.' });
    expect(await see(id)).toMatchObject({ restarts: 0, attempt: 1 });
  });

  test('that crashes resumes under the same id after a pause, and is not charged for lost work', async () => {
    let attempts = 0;
    const { engine } = world(async (launch, process) => {
      attempts += 1;
      if (attempts === 2) return report(launch, ...complete).then(() => 0);
      await report(launch, complete[1] as Unnumbered);
      pass(20);
      await report(launch, { type: 'checkpoint', step: 1 });
      pass(7);
      await report(launch);
      process.print('Segmentation fault');
      return 139;
    });
    const id = await request();
    await reach(engine, id, {
      state: 'queued',
      restarts: 1,
      failures: 1,
      activeSeconds: 20,
      reason:
        'It ended unexpectedly with status 139: Segmentation fault. It resumes from its last checkpoint in 5 s.',
    });
    expect(await selectLogLines(db, id, 9)).toMatchObject([{ line: 'Segmentation fault' }, {}]);
    pass(4);
    await engine.pass();
    expect(await see(id)).toMatchObject({ state: 'queued' });
    pass(2);
    await reach(engine, id, { state: 'completed', attempt: 2, restarts: 1 });
  });

  test('that fails and loses its folder has no saved work', async () => {
    const { engine, driver } = world(async (launch) => {
      await report(launch, complete[1] as Unnumbered);
      pass(20);
      await report(launch, { type: 'checkpoint', step: 1 });
      await report(launch, { type: 'failed', message: 'The data ended.' });
      await driver.remove(launch.workloadId);
      return 1;
    });
    const id = await request();
    await reach(engine, id, { state: 'failed' });
    expect(await see(id)).toMatchObject({ activeSeconds: 20, savedSeconds: 0 });
  });

  test('gets its last uploaded checkpoint as an input of its next attempt', async () => {
    const sha256 = 'c'.repeat(64);
    const inputs: string[][] = [];
    const { engine } = world(async ({ workloadId, attempt, spec }) => {
      inputs.push(spec.inputs.map(({ name }) => name));
      if (attempt === 2) {
        expect(spec.inputs.at(-1)?.files).toEqual([{ path: 'checkpoint.tar', sha256, size_bytes: 7 }]);
        expect(await findInput(db, workloadId, sha256)).toBe(7);
        expect(await findInput(db, workloadId, 'd'.repeat(64))).toBeNull();
        return 0;
      }
      await db
        .insertInto('blobs')
        .values({ sha256, size_bytes: 7n })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      const left = { path: 'checkpoint.tar', sha256, sizeBytes: 7 };
      await db.transaction().execute((tx) => upsertArtefact(tx, workloadId, left));
      return 1;
    });
    const id = await request();
    await reach(engine, id, { attempt: 2, state: 'queued' }, 2);
    expect(inputs).toEqual([[], ['checkpoint']]);
  });

  test('may print and report text that the database cannot store', async () => {
    const { engine } = world(async (launch, process) => {
      await report(
        launch,
        { type: 'phase', phase: 'load\0ing' },
        { type: 'log', line: 'a\0b \ud800' },
        { type: 'metrics', step: 1, values: { 'lo\0ss': 1 } },
      );
      if (launch.attempt === 2) {
        await report(launch, { type: 'failed', message: 'No such column: x\0\udfff.' });
      }
      process.print('Bad bytes: \0\0');
      return 1;
    });
    const id = await request();
    await reach(engine, id, {
      state: 'queued',
      phase: 'loading',
      reason: expect.stringContaining('with status 1: Bad bytes: .'),
    });
    expect(await selectMetrics(db, id)).toMatchObject([{ values: { loss: 1 } }]);
    expect((await selectLogLines(db, id, 9)).map(({ line }) => line)).toEqual([
      'ab \ufffd',
      'Bad bytes: ',
      expect.stringContaining('It starts again'),
    ]);
    pass(6);
    await reach(engine, id, { state: 'failed', reason: 'No such column: x\ufffd.' });
  });

  test('without progress fails permanently', async () => {
    const { engine } = world(async () => 1);
    const id = await request();
    await reach(engine, id, { state: 'failed', attempt: 5 }, 20);
    expect(await see(id)).toMatchObject({ restarts: 4, devices: null });
  });

  test('that cannot be started is retried forever, without showing machine details to its owner', async () => {
    const { driver } = world(idleUntilStopped);
    let broken = true;
    const engine = engineOn({
      ...driver,
      start: async (launch) => {
        if (broken) throw new Error("ENOSPC: no space left on device, mkdir '/var/lib/bakehouse/workloads'");
        return driver.start(launch);
      },
    });
    const id = await request();
    // After three failed starts in a row the machine pauses, and the owner sees why.
    const resting =
      'Nothing can be started on this machine: the disk is full. It tries again every 3 minutes.';
    for (const [seconds, rest] of [
      [5, 0],
      [10, 0],
      [20, 180],
      [40, 180],
      [60, 180],
      [60, 180],
    ] as const) {
      await engine.pass();
      const reason = `It could not be started: the disk is full. Trying again in ${seconds} s at the earliest.`;
      expect(await see(id)).toMatchObject({
        state: 'queued',
        failures: 0,
        restarts: 0,
        devices: null,
        reason,
      });
      expect((await selectLogLines(db, id, 1)).map(({ line }) => line)).toEqual([reason]);
      pass(seconds + 1);
      if (rest === 0) continue;
      await engine.pass();
      expect(await see(id)).toMatchObject({ state: 'queued', reason: resting });
      pass(rest - seconds);
    }
    broken = false;
    await reach(engine, id, { state: 'starting' });
  });

  test('that cannot be started releases its slot during the pause', async () => {
    const { driver } = world(idleUntilStopped);
    const first = await request();
    const engine = engineOn({
      ...driver,
      start: async (launch) => {
        if (launch.workloadId === first) throw new Error('no space left on device');
        return driver.start(launch);
      },
    });
    pass(1);
    const second = await request();
    await reach(engine, second, { state: 'starting' });
    expect(await see(first)).toMatchObject({ state: 'queued', failures: 0 });
  });
});
