import { expect, it } from 'vitest';
import { adapterTurns } from './adapter-turns.ts';

const never = new AbortController().signal;

/** Begins in this order, and tells who is inside. */
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

it('lets many in for one adapter', async () => {
  expect(await asked(['rye', 'rye', 'rye']).names()).toEqual(['rye', 'rye', 'rye']);
  expect(await asked([null, null]).names()).toEqual([null, null]);
});

it('comes to whoever waits for another before more of the present one', async () => {
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

it('lets those in who waited behind one who gave up', async () => {
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
