import { expect, it } from 'vitest';
import { adapterTurns } from './server-turns.ts';

const never = new AbortController().signal;

/** Requests turns for these adapters in order. `names` returns the adapters of the admitted requests. */
function asked(adapters: (string | null)[], turns = adapterTurns()) {
  const inside: { adapter: string | null; leave: () => void }[] = [];
  for (const adapter of adapters)
    void turns.enter(adapter, never).then((leave) => inside.push({ adapter, leave }));
  const names = async () => {
    await Promise.resolve();
    return inside.map(({ adapter }) => adapter);
  };
  return { turns, inside, names };
}

it('admits many requests of one adapter', async () => {
  expect(await asked(['rye', 'rye', 'rye']).names()).toEqual(['rye', 'rye', 'rye']);
  expect(await asked([null, null]).names()).toEqual([null, null]);
});

it('admits a waiting request of another adapter before more of the current one', async () => {
  const { turns, inside, names } = asked(['rye', 'wheat', 'rye', 'wheat']);
  expect(await names()).toEqual(['rye']);
  inside.shift()?.leave();
  expect(await names()).toEqual(['wheat', 'wheat']);
  inside.shift()?.leave();
  expect(await names()).toEqual(['wheat']);
  inside.shift()?.leave();
  expect(await names()).toEqual(['rye']);
  inside.shift()?.leave();
  expect(turns.load()).toBe(0);
});

it('admits requests that waited behind a request that was aborted', async () => {
  const { turns, names } = asked(['rye']);
  const client = new AbortController();
  const given = turns.enter('wheat', client.signal);
  const behind = turns.enter('rye', never);
  client.abort(new Error('disconnected'));
  await expect(given).rejects.toThrow('disconnected');
  await expect(behind).resolves.toBeTypeOf('function');
  expect(await names()).toEqual(['rye']);
  expect(turns.load()).toBe(2);
});
