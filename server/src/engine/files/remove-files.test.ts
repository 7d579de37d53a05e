import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { idleUntilStopped } from '../drivers/fake/fake-driver.ts';
import { sweepFiles } from '../machines/sweep-files.ts';
import { insertLogLines } from '../queries.ts';
import { selectLogLines } from '../reports/attempt-log.ts';
import { resumeWorkload } from '../request-workload.ts';
import { complete, testEngine } from '../testing/test-engine.ts';
import { releaseUserWorkloads } from './release-user-workloads.ts';
import { removeFiles } from './remove-files.ts';

const { db, clock, log, machineId, pass, engineOn, world, report, request, stop, see, reach } =
  await testEngine();
await sql`insert into users (id, name, username, email)
  select n, n, n, n || '@example.com' from (values ('ada'), ('eve')) as names (n)`.execute(db);

beforeEach(async () => {
  await db.deleteFrom('workloads').execute();
});

describe('files', () => {
  const week = 7 * 24 * 3600;
  const resume = (id: string) =>
    db.transaction().execute((tx) => resumeWorkload(tx, { id, now: clock.now() }));

  const print = (id: string) =>
    db.transaction().execute((tx) => insertLogLines(tx, id, [{ at: clock.now(), line: 'Dough' }]));
  const left = async (id: string) => ({
    files: (await see(id)).filesRemovedAt === null,
    lines: (await selectLogLines(db, id, 5)).length,
  });
  /** A run of Ada and a run of Eve, whose files are already gone. */
  const completedRuns = async () => {
    const { engine } = world((launch) => report(launch, ...complete).then(() => 0));
    const ids = [await request({ userId: 'ada' }), await request({ userId: 'eve' })];
    for (const id of ids) await reach(engine, id, { state: 'completed' });
    await engine.pass();
    expect(await Promise.all(ids.map(left))).toEqual(ids.map(() => ({ files: false, lines: 1 })));
    return ids;
  };

  test('are deleted a week after the end, unless the owner has resumed the run', async () => {
    const { driver, engine } = world(idleUntilStopped, async () => ({}));
    const ids = [await request(), await request()];
    for (const id of ids) await stop(id);
    await engine.pass();
    pass(week + 1);
    const removed: string[] = [];
    const [gone, kept] = ids.toSorted() as [string, string];
    const watched = {
      ...driver,
      // At this point both runs are listed for deletion. While the first is deleted, the owner resumes the
      // other one.
      remove: async (id: string) => {
        removed.push(id);
        // The first run cannot be resumed. The call fails immediately, because a slow deletion could outlast
        // a transaction.
        await expect(resume(id)).rejects.toThrow('is gone now');
        if (removed.length === 1) await resume(id === gone ? kept : gone);
      },
    };
    await removeFiles({ db, driver: watched, machineId, log }, clock.now());
    expect(removed).toHaveLength(1);
    const other = removed[0] === gone ? kept : gone;
    expect(await see(other)).toMatchObject({ state: 'queued', filesRemovedAt: null });
    expect(await see(removed[0] as string)).toMatchObject({ filesRemovedAt: clock.now() });
    await expect(resume(removed[0] as string)).rejects.toThrow('is gone now');
  });

  test('of a deleted user are deleted as soon as the run has ended, with its log', async () => {
    const { engine } = world(idleUntilStopped, async () => ({}));
    const ids: string[] = [];
    for (const userId of ['ada', 'ada', 'eve']) ids.push(await request({ userId }));
    const [ended, alive, other] = ids as [string, string, string];
    const endAndForget = async (...stopped: string[]) => {
      for (const id of stopped) {
        await print(id);
        await stop(id);
        await engine.pass();
      }
      await db.transaction().execute((tx) => releaseUserWorkloads(tx, 'ada'));
      await engine.pass();
      return Promise.all(ids.map(left));
    };
    const [kept, gone] = [
      { files: true, lines: 1 },
      { files: false, lines: 0 },
    ];
    expect(await endAndForget(ended, other)).toEqual([gone, { files: true, lines: 0 }, kept]);
    expect(await endAndForget(alive)).toEqual([gone, gone, kept]);
  });

  test("deleted before the account: the run's log is deleted with the account", async () => {
    const ids = await completedRuns();
    await db.transaction().execute((tx) => releaseUserWorkloads(tx, 'ada'));
    expect(await Promise.all(ids.map(left))).toEqual([
      { files: false, lines: 0 },
      { files: false, lines: 1 },
    ]);
  });

  test('of a model server are deleted a day after its end, because it cannot be resumed', async () => {
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

  test('that cannot be deleted do not block the deletion of others', async () => {
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
    // The passes do not retry the deletion.
    expect(removed).toHaveLength(2);

    // The next sweep does, as after a crash.
    await sweepFiles({ db, driver: stuck, machineId, log });
    expect(removed.slice(2).toSorted()).toEqual(ids.toSorted());
  });
});
