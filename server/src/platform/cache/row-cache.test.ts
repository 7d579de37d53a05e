import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { testDatabase } from '../../testing/test-database.ts';
import { rowCache } from './row-cache.ts';
import { openRowChanges } from './row-changes.ts';

const { db, url } = await testDatabase();
const WAIT = { timeout: 20_000 };

/** A process with its own connection for changes, a movable clock, and a cache. */
async function aProcess() {
  const time = { aheadMs: 0 };
  const changes = await openRowChanges(
    url,
    pino({ level: 'silent' }),
    () => performance.now() + time.aheadMs,
  );
  onFileEnd(changes.close);
  const recall = rowCache<{ id: string }>(changes, {
    max: 2,
    concerns: ({ id }, change) => change.of === 'thing' && change.id === id,
    isKept: ({ id }) => id !== 'never',
  });
  const load = vi.fn((id: string) => Promise.resolve({ id }));
  const read = (id: string) => recall(id, () => load(id));
  /**
   * Reads repeatedly until the value comes from the cache. That happens once the connection is known to be
   * current.
   */
  const untilKept = (id: string) =>
    vi.waitFor(async () => {
      load.mockClear();
      await read(id);
      expect(load).not.toHaveBeenCalled();
    }, WAIT);
  const isUsed = async (id: string) => {
    load.mockClear();
    await read(id);
    return load.mock.calls.length === 0;
  };
  /**
   * Returns whether the value comes from the cache, after waiting until the connection is known to be
   * current.
   */
  const isKept = async (id: string) => {
    await vi.waitFor(() => expect(changes.areCurrent()).toBe(true), WAIT);
    return isUsed(id);
  };
  return { time, changes, recall, load, read, untilKept, isKept, isUsed };
}

const notify = (id: string) =>
  sql`select pg_notify('bakehouse_row_change', ${JSON.stringify({ of: 'thing', id })})`.execute(db);

const breakConnections = () =>
  sql`select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'bakehouse row changes' and datname = current_database()`.execute(db);

test('a changed row is evicted in every process, and no other row is', async () => {
  const [one, two] = [await aProcess(), await aProcess()];
  for (const { untilKept } of [one, two]) for (const id of ['a', 'b']) await untilKept(id);
  await notify('a');
  await Promise.all([one.changes.catchUp(), two.changes.catchUp()]);
  for (const { isKept } of [one, two]) expect([await isKept('b'), await isKept('a')]).toEqual([true, false]);
});

test('does not cache a row that changes while it is read', async () => {
  const { recall, changes, untilKept, isKept } = await aProcess();
  await untilKept('other');
  await recall('a', async () => {
    await notify('a');
    await changes.catchUp();
    return { id: 'a' };
  });
  expect(await isKept('a')).toBe(false);
  expect(await isKept('a')).toBe(true);
});

test('does not use cached values if the connection is not known to be current, or broke', async () => {
  const { time, changes, untilKept, isUsed } = await aProcess();
  await untilKept('a');
  // Like a suspended process or a silent connection.
  time.aheadMs += 1_000;
  expect(changes.areCurrent()).toBe(false);
  expect(await isUsed('a')).toBe(false);
  await untilKept('a');
  await breakConnections();
  await vi.waitFor(async () => expect(await isUsed('a')).toBe(false), WAIT);
  await untilKept('a');
});

test('caches at most `max` values, and none that is excluded', async () => {
  const { untilKept, isKept } = await aProcess();
  for (const id of ['a', 'b', 'c']) await untilKept(id);
  expect([await isKept('c'), await isKept('b'), await isKept('a')]).toEqual([true, true, false]);
  await isKept('never');
  expect(await isKept('never')).toBe(false);
});
