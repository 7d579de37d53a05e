import { cancelSweep, getSweep, listSweeps, startSweep } from '@bakehouse/contract/sweeps';
import { expect, test } from 'vitest';
import type { TestUser } from '../../../testing/test-server.ts';
import { trainingServer } from '../testing/training-server.ts';

const { server, request, user, filesOf, clock } = await trainingServer();

const list = (query: object, as: TestUser) => request(listSweeps, { query }, { as });
const cancel = (sweepId: string, as: TestUser) => request(cancelSweep, { params: { sweepId } }, { as });

/** Starts one of two runs for each title. */
async function startSweeps(as: TestUser, titles: string[]): Promise<string[]> {
  const { asset_id, base_model } = await filesOf(as);
  const fine_tune_payload = {
    ...{ asset_id, base_model, model_name: 'loaf', file_name: 'rows.csv', user_id: as.userId },
    ...{ input_column: 'question', output_column: 'answer' },
  };
  const ids: string[] = [];
  for (const title of titles) {
    clock.advance({ seconds: 1 });
    const body = { title, axes: [{ parameter: 'lora_r' as const, values: [4, 8] }], fine_tune_payload };
    ids.push((await request(startSweep, { body }, { as })).sweep_id);
  }
  return ids;
}

test('the newest come first, with how their runs are and what they cost', async () => {
  expect(await list({}, user)).toEqual({ sweeps: [], next_cursor: null });
  const ids = (await startSweeps(user, ['Rye ranks', 'Spelt ranks'])).toReversed();
  const [newest = ''] = ids;
  const { sweeps, next_cursor } = await list({}, user);
  expect([sweeps.map(({ sweep_id }) => sweep_id), next_cursor]).toEqual([ids, null]);
  const { runs, cost_so_far, created_at } = await request(
    getSweep,
    { params: { sweepId: newest } },
    { as: user },
  );
  expect(sweeps[0]).toEqual({
    ...{ sweep_id: newest, title: 'Spelt ranks', parameters: ['lora_r'], cost_so_far, created_at },
    runs: expect.arrayContaining(runs.map(({ run_id }) => ({ run_id, state: 'queued' }))),
  });
  await cancel(newest, user);
  const [cancelled, other] = (await list({}, user)).sweeps;
  expect(cancelled?.runs.map(({ state }) => state)).not.toContain('queued');
  expect(other?.runs.map(({ state }) => state)).toEqual(['queued', 'queued']);
});

test('a list comes by pages, narrowed by a part of the name, and has only those of the caller', async () => {
  const bob = await server.signUp('Bob');
  const ids = (await startSweeps(bob, ['Rye ranks', 'Spelt ranks', 'Rye again'])).toReversed();
  const [newest = '', middle, oldest] = ids;
  const first = await list({ limit: 2 }, bob);
  expect(first).toMatchObject({ sweeps: [{ sweep_id: newest }, {}], next_cursor: middle });
  const second = await list({ limit: 2, cursor: first.next_cursor }, bob);
  expect(second).toMatchObject({ sweeps: [{ sweep_id: oldest }], next_cursor: null });
  const found = await list({ search: 'rYe', limit: 1 }, bob);
  expect(found).toMatchObject({ sweeps: [{ title: 'Rye again' }], next_cursor: newest });
  const more = await list({ search: 'rye', cursor: newest }, bob);
  expect(more.sweeps.map(({ title }) => title)).toEqual(['Rye ranks']);
  await expect(list({ cursor: newest }, user)).rejects.toMatchObject({
    body: { error: { param: 'cursor' } },
  });
});
