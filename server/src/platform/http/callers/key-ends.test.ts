import type { KeyScope } from '@bakehouse/contract/endpoint';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { RowChange } from '../../cache/row-changes.ts';
import type { CallerKey, Context } from '../../context.ts';
import { watchKey } from './key-ends.ts';

type Found = Pick<CallerKey, 'scopes' | 'expiresAt'>;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000);
const oneSecond = () => vi.advanceTimersByTimeAsync(1_000);
const tenMinutes = () => vi.advanceTimersByTimeAsync(10 * 60_000);

/** Watches a key whose database state the test can change. */
function watch(
  opened: Found,
  { found = opened, missed = 0 }: { found?: Found | null; missed?: number } = {},
) {
  const state: { found: Found | null; error: Error | null; areCurrent: boolean } = {
    ...{ found, error: null },
    // If false, changes may be missed, so the watch must poll.
    areCurrent: false,
  };
  const look = vi.fn(async () => {
    if (state.error) throw state.error;
    return state.found;
  });
  const key = {
    id: 'key',
    sha256: Buffer.alloc(32),
    forWebApp: false,
    hasBudget: false,
    changeCount: 0,
    look,
    ...opened,
  };
  const listeners = new Set<(change: RowChange | null) => void>();
  const announce = (change: RowChange | null) => {
    for (const listener of listeners) listener(change);
  };
  const subscribe: Context['rowChanges']['subscribe'] = (listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  const { signal, stop } = watchKey({
    caller: { kind: 'user', userId: 'ada', isOperator: false, key },
    rowChanges: {
      areCurrent: () => state.areCurrent,
      catchUp: async () => undefined,
      subscribe,
      count: () => missed,
    },
    clock: { now: () => new Date() },
    log: pino({ level: 'silent' }),
  });
  return { state, look, announce, listeners, signal, stop };
}

const open: Found = { scopes: ['everything'], expiresAt: null };
const itsChange: RowChange = { of: 'api_key', id: 'key' };

test.each([0, 399, 60_000])('a key that is revoked after %i ms ends its open requests', async (ms) => {
  const { state, signal } = watch(open);
  await vi.advanceTimersByTimeAsync(ms);
  expect(signal.aborted).toBe(false);
  state.found = null;
  await oneSecond();
  expect(signal.reason).toMatchObject({ code: 'unauthenticated' });
});

test('reads the key only if some of its changes may have been missed', async () => {
  const { state, look, announce, signal } = watch(open);
  state.areCurrent = true;
  await tenMinutes();
  expect(look).not.toHaveBeenCalled();
  announce({ of: 'api_key', id: 'other' });
  expect(look).not.toHaveBeenCalled();
  state.found = null;
  announce(null);
  await oneSecond();
  expect(look).toHaveBeenCalledTimes(1);
  expect(signal.aborted).toBe(true);
});

test.each([
  ['ends the request if the key was revoked', null, true],
  ['continues if the key is valid', open, false],
])(
  'reads the key once if changes were announced since its authentication: %s',
  async (_case, found, ends) => {
    const { state, look, signal } = watch(open, { found, missed: 1 });
    state.areCurrent = true;
    await oneSecond();
    expect(signal.aborted).toBe(ends);
    expect(look).toHaveBeenCalledTimes(1);
  },
);

test('all watches poll at the same time', async () => {
  const looks: number[] = [];
  for (const waitMs of [0, 130, 90]) {
    await vi.advanceTimersByTimeAsync(waitMs);
    watch(open).look.mockImplementation(async () => {
      looks.push(Date.now());
      return open;
    });
  }
  await oneSecond();
  expect(looks.length).toBeGreaterThanOrEqual(6);
  expect(new Set(looks).size).toBe(looks.length / 3);
});

test('an unavailable database ends no request; a revocation in the meantime is found afterwards', async () => {
  const { state, signal } = watch(open);
  state.error = new Error('away');
  await tenMinutes();
  expect(signal.aborted).toBe(false);
  Object.assign(state, { error: null, found: null });
  await oneSecond();
  expect(signal.aborted).toBe(true);
});

test.each([
  ['does not answer', () => new Promise<never>(() => undefined)],
  ['is unavailable', () => Promise.reject(new Error('away'))],
])("a key that changes while the database %s ends its open requests, and no other's", async (_, look) => {
  const watched = watch(open);
  watched.look.mockImplementation(look);
  await tenMinutes();
  for (const other of [null, { of: 'api_key', id: 'other' }, { of: 'user', id: 'key' }])
    watched.announce(other);
  await oneSecond();
  expect(watched.signal.aborted).toBe(false);
  watched.announce(itsChange);
  await oneSecond();
  expect(watched.signal.reason).toMatchObject({ code: 'unauthenticated' });
});

test('a key that changes and stays valid ends no request; a read that began before the change does not count', async () => {
  const { look, announce, signal } = watch(open);
  const before = Promise.withResolvers<Found>();
  look.mockReturnValueOnce(before.promise);
  await oneSecond();
  announce(itsChange);
  await tenMinutes();
  expect(signal.aborted).toBe(false);
  const slow = Promise.withResolvers<Found>();
  look.mockReturnValue(slow.promise);
  await oneSecond();
  look.mockReturnValue(new Promise<never>(() => undefined));
  announce(itsChange);
  slow.resolve(open);
  before.resolve(open);
  await oneSecond();
  expect(signal.aborted).toBe(true);
});

test('a key expires even while a read is pending', async () => {
  const { look, signal } = watch({ ...open, expiresAt: inMinutes(1) });
  look.mockReturnValue(new Promise<never>(() => undefined));
  await vi.advanceTimersByTimeAsync(59_000);
  expect(signal.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(signal.aborted).toBe(true);
});

test('an earlier and a later expiry take effect immediately', async () => {
  const sooner = watch({ ...open, expiresAt: inMinutes(60) });
  const later = watch({ ...open, expiresAt: inMinutes(1) });
  sooner.state.found = { ...open, expiresAt: new Date(Date.now() + 10_000) };
  later.state.found = open;
  await oneSecond();
  // The last known expiry applies during a database outage.
  sooner.state.error = new Error('away');
  await vi.advanceTimersByTimeAsync(8_000);
  expect(sooner.signal.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(sooner.signal.aborted).toBe(true);
  await tenMinutes();
  expect(later.signal.aborted).toBe(false);
});

test('a key that loses a scope ends its open requests, and a key that gains one does not', async () => {
  const loses = watch({ ...open, scopes: ['read', 'inference'] });
  loses.state.found = { ...open, scopes: ['read'] };
  await oneSecond();
  expect(loses.signal.aborted).toBe(true);
  const gets = watch({ ...open, scopes: ['read'] });
  for (const scopes of [['read', 'inference'], ['everything']] as KeyScope[][]) {
    gets.state.found = { ...open, scopes };
    await oneSecond();
  }
  expect(gets.signal.aborted).toBe(false);
});

test('reads nothing after the watch has stopped', async () => {
  const { look, listeners, stop } = watch(open);
  await oneSecond();
  expect(look).toHaveBeenCalled();
  stop();
  expect(listeners.size).toBe(0);
  look.mockClear();
  await tenMinutes();
  expect(look).not.toHaveBeenCalled();
});
