import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Launch } from '../drivers/driver.ts';
import { idleUntilStopped } from '../drivers/fake/fake-driver.ts';
import { findInput, upsertArtefact } from '../files/file-queries.ts';
import { giveUpWork } from '../files/give-up-work.ts';
import { removeFiles } from '../files/remove-files.ts';
import { sweepFiles } from '../machines/sweep-files.ts';
import { insertLogLines } from '../queries.ts';
import { selectLogLines } from '../reports/select-log-lines.ts';
import { selectMetrics } from '../reports/select-metrics.ts';
import { resumeWorkload } from '../resume-workload.ts';
import { complete, testEngine, type Unnumbered } from '../testing/test-engine.ts';

const { db, clock, log, machineId, onResult, pass, engineOn, world, report, request, stop, see, reach } =
  await testEngine();

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

  test('that waits is told for how long only while somebody knows', async () => {
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
    expect(await told()).toBe('');
  });

  test('that is cancelled while it waits ends at once', async () => {
    const { engine } = world(idleUntilStopped, async () => ({}));
    const id = await request();
    await engine.pass();
    await stop(id);
    await engine.pass();
    expect(await see(id)).toMatchObject({ state: 'stopped', attempt: 0 });
  });

  test('hears that it should stop, and ends stopped', async () => {
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

  test('that fails with a message is not tried again', async () => {
    const { engine } = world(async (launch) => {
      await report(launch, { type: 'failed', message: 'The file holds no rows.' });
      return 1;
    });
    const id = await request();
    await reach(engine, id, { state: 'failed', reason: 'The file holds no rows.' });
    expect(await see(id)).toMatchObject({ restarts: 0, attempt: 1 });
  });

  test('that crashes goes on under the same id after a pause, and is not charged for what was lost', async () => {
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
        'It ended unexpectedly with status 139: Segmentation fault. It goes on from its last checkpoint in 5 s.',
    });
    expect(await selectLogLines(db, id, 9)).toMatchObject([{ line: 'Segmentation fault' }, {}]);
    pass(4);
    await engine.pass();
    expect(await see(id)).toMatchObject({ state: 'queued' });
    pass(2);
    await reach(engine, id, { state: 'completed', attempt: 2, restarts: 1 });
  });

  test('that fails and leaves nothing on its machine cannot go on with what it has saved there', async () => {
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

  test('gets the last checkpoint that it left on the server as an input of its next attempt', async () => {
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

  test('may print and report what no database stores', async () => {
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

  test('that comes no further is given up', async () => {
    const { engine } = world(async () => 1);
    const id = await request();
    await reach(engine, id, { state: 'failed', attempt: 5 }, 20);
    expect(await see(id)).toMatchObject({ restarts: 4, devices: null });
  });

  test('that cannot be started is tried again however often, and its owner reads nothing of the machine', async () => {
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
    // After three in a row the machine rests, and its owner reads that.
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
      const reason = `It could not be started: the disk is full. It is tried again in ${seconds} s at the earliest.`;
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

  test('that cannot be started leaves its slot to the others meanwhile', async () => {
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

describe('files', () => {
  const week = 7 * 24 * 3600;
  const resume = (id: string) =>
    db.transaction().execute((tx) => resumeWorkload(tx, { id, now: clock.now() }));

  test('go a week after the end, and not where the owner has resumed it meanwhile', async () => {
    const { driver, engine } = world(idleUntilStopped, async () => ({}));
    const ids = [await request(), await request()];
    for (const id of ids) await stop(id);
    await engine.pass();
    pass(week + 1);
    const removed: string[] = [];
    const [gone, kept] = ids.toSorted() as [string, string];
    const watched = {
      ...driver,
      // Both are listed by then; while the first one's files are deleted, the other one's owner comes.
      remove: async (id: string) => {
        removed.push(id);
        // Nobody resumes what is being deleted, nor waits for it: a slow disk may take longer than a transaction may.
        await expect(resume(id)).rejects.toThrow('is gone now');
        if (removed.length === 1) await resume(id === gone ? kept : gone);
      },
    };
    await removeFiles({ db, driver: watched, log }, [machineId], clock.now());
    expect(removed).toHaveLength(1);
    const other = removed[0] === gone ? kept : gone;
    expect(await see(other)).toMatchObject({ state: 'queued', filesRemovedAt: null });
    expect(await see(removed[0] as string)).toMatchObject({ filesRemovedAt: clock.now() });
    await expect(resume(removed[0] as string)).rejects.toThrow('is gone now');
  });

  test('of a user who has deleted the account go as soon as the run has ended, and its log', async () => {
    await sql`insert into users (id, name, username, email)
      select n, n, n, n || '@example.com' from (values ('ada'), ('eve')) as names (n)`.execute(db);
    const { engine } = world(idleUntilStopped, async () => ({}));
    const ids: string[] = [];
    for (const userId of ['ada', 'ada', 'eve']) ids.push(await request({ userId }));
    const [ended, alive, other] = ids as [string, string, string];
    const endAndGiveUp = async (...stopped: string[]) => {
      for (const id of stopped) {
        await db.transaction().execute((tx) => insertLogLines(tx, id, [{ at: clock.now(), line: 'Dough' }]));
        await stop(id);
        await engine.pass();
      }
      await db.transaction().execute((tx) => giveUpWork(tx, 'ada'));
      await engine.pass();
      return Promise.all(
        ids.map(async (id) => [
          (await see(id)).filesRemovedAt !== null,
          (await selectLogLines(db, id, 5)).length,
        ]),
      );
    };
    const [kept, gone] = [
      [false, 1],
      [true, 0],
    ];
    expect(await endAndGiveUp(ended, other)).toEqual([gone, [false, 0], kept]);
    expect(await endAndGiveUp(alive)).toEqual([gone, gone, kept]);
  });

  test('of a model server go a day after its end: nobody can resume it', async () => {
    const { engine } = world(idleUntilStopped, async () => ({}));
    const ids = [await request({ behaviour: 'deployment' }), await request()];
    for (const id of ids) await stop(id);
    await engine.pass();
    pass(24 * 3600 - 1);
    await engine.pass();
    const removedAt = async () => (await Promise.all(ids.map(see))).map((one) => one.filesRemovedAt);
    expect(await removedAt()).toEqual([null, null]);
    pass(2);
    await engine.pass();
    expect(await removedAt()).toEqual([clock.now(), null]);
  });

  test('that cannot be deleted keep nobody from working, and the others are deleted', async () => {
    const { driver, engine } = world(idleUntilStopped, async () => ({}));
    const ids = [await request(), await request()];
    for (const id of ids) await stop(id);
    await engine.pass();
    pass(week + 1);
    const [kept, gone] = ids as [string, string];
    const removed: string[] = [];
    const stuck = {
      ...driver,
      capacity: async () => ({ 'cpu:run': 1 }),
      list: async () => ids,
      remove: async (id: string) => {
        removed.push(id);
        if (id === kept) throw new Error("EACCES: permission denied, rmdir '/data/workloads'");
      },
    };
    const next = engineOn(stuck);
    await next.pass();
    expect(removed.toSorted()).toEqual(ids.toSorted());
    for (const id of [kept, gone]) expect(await see(id)).toMatchObject({ filesRemovedAt: clock.now() });
    const work = await request();
    await reach(next, work, { state: 'starting' });
    // It is not tried again with each pass.
    expect(removed).toHaveLength(2);

    // What is left of them is deleted by the next sweep, as after a crash.
    await sweepFiles({ db, driver: stuck, machineId, log });
    expect(removed.slice(2).toSorted()).toEqual(ids.toSorted());
  });
});
