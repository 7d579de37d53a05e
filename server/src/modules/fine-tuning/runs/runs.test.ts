import { randomUUID } from 'node:crypto';
import * as runContract from '@bakehouse/contract/runs';
import { beforeAll, expect, test } from 'vitest';
import { idleUntilStopped } from '../../../engine/drivers/fake/fake-driver.ts';
import { trainingServer } from '../testing/training-server.ts';
import { micro } from '../testing/workload-calls.ts';

const { machine, server, request, user, start, runOf, ended, begin, workload, trainFor } =
  await trainingServer();

/** Six runs: one was charged, one failed, three were cancelled, and one is running. */
beforeAll(async () => {
  machine.script = trainFor(20);
  await ended(await start({ title: 'charged' }));
  const failed = await begin(async (launch) => {
    await workload(launch).report({ type: 'failed', message: 'The memory is not enough.' });
    return 1;
  });
  await ended(failed.modelId);
  for (const title of ['first', 'second', 'third']) {
    const modelId = await start({ title });
    const { run_id: runId } = await runOf(modelId);
    await request(runContract.cancelRun, { params: { runId } }, { as: user });
    await ended(modelId);
  }
  await begin(idleUntilStopped, { title: 'under way' });
});

test('lists each run once, page by page', async () => {
  const as = await server.signUp();
  const list = (query: object) => request(runContract.listRuns, { query }, { as });
  expect(await list({ limit: 2 })).toEqual({ runs: [], next_cursor: null });
  const all = (await request(runContract.listRuns, { query: { limit: 100 } }, { as: user })).runs;
  expect(all).toHaveLength(6);
  const paged: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await request(runContract.listRuns, { query: { limit: 2, cursor } }, { as: user });
    paged.push(...page.runs.map((run) => run.run_id));
    cursor = page.next_cursor;
  }
  expect(paged).toEqual(all.map((run) => run.run_id));
  const byTitle: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = { sort: 'title', limit: 2, cursor } as const;
    const page = await request(runContract.listRuns, { query }, { as: user });
    byTitle.push(...page.runs.map((run) => run.title.toLowerCase()));
    cursor = page.next_cursor;
  }
  expect(byTitle).toEqual(all.map((run) => run.title.toLowerCase()).toSorted());
  const wanted = [...new Set(all.map((run) => run.model_id))].slice(0, 3);
  const some = await request(runContract.listRuns, { query: { model_id: wanted.join(',') } }, { as: user });
  expect(some.runs).toEqual(all.filter((run) => wanted.includes(run.model_id)));
  expect((await list({ model_id: wanted.join(',') })).runs).toEqual([]);
  await expect(list({ model_id: `${wanted[0]},x` })).rejects.toThrow('No model has this id');
  // The id of another user's run is no valid cursor.
  await expect(list({ cursor: all[0]?.run_id })).rejects.toThrow(/cursor must be the next_cursor/);
  await expect(list({ cursor: randomUUID() })).rejects.toThrow(/cursor must be the next_cursor/);
});

test('finds runs by state and name and counts them with their cost', async () => {
  const list = async (query: object, as = user) =>
    (await request(runContract.listRuns, { query: { limit: 100, ...query } }, { as })).runs;
  const all = await list({});
  const active = ['queued', 'starting', 'running', 'stopping'];
  expect(await list({ state: 'cancelled' })).toEqual(all.filter((run) => run.state === 'cancelled'));
  expect(await list({ state: 'active' })).toEqual(all.filter((run) => active.includes(run.state)));
  const [first] = all;
  expect(await list({ search: first?.title.toUpperCase() })).toContainEqual(first);
  expect(await list({ search: first?.dataset.title })).toContainEqual(first);
  expect(await list({ search: '%' })).toEqual([]);
  await expect(list({ state: 'over' })).rejects.toThrow(
    'state must be one of active, completed, cancelled, failed',
  );

  const sums = await request(runContract.runStats, {}, { as: user });
  expect(sums.active + sums.completed + sums.cancelled + sums.failed).toBe(all.length);
  expect(sums).toMatchObject({ active: 1, completed: 1, cancelled: 3, failed: 1 });
  const total = (amounts: (string | null)[]) => amounts.reduce((sum, amount) => sum + micro(amount), 0);
  expect(micro(sums.cost)).toBe(total(all.map((run) => run.charged)));
  expect(micro(sums.held)).toBe(total(all.map((run) => run.held)));
  const settled = all.filter((run) => run.charged !== null);
  expect(settled.map((run) => run.cost_so_far)).toEqual(settled.map((run) => run.charged));
  const stranger = await server.signUp();
  expect(await list({ search: first?.title }, stranger)).toEqual([]);
  expect(await request(runContract.runStats, {}, { as: stranger })).toEqual({
    ...{ active: 0, completed: 0, cancelled: 0, failed: 0 },
    ...{ cost: '0', held: '0' },
  });
});
