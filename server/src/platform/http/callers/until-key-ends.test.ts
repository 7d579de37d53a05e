import type { KeyScope } from '@bakehouse/contract/endpoint';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { RowChange } from '../../cache/row-changes.ts';
import type { Context } from '../../context.ts';
import { untilKeyEnds } from './until-key-ends.ts';

type Found = { scopes: KeyScope[]; expiresAt: Date | null } | null;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000);

/** Watches a key; what the database says of it can be changed, and announced. */
function watch(opened: NonNullable<Found>) {
  const state: { found: Found; error: Error | null } = { found: opened, error: null };
  const listeners = new Set<(change: RowChange | null) => void>();
  const look = vi.fn(async () => {
    if (state.error) throw state.error;
    return state.found;
  });
  const { signal, stop } = untilKeyEnds({
    caller: {
      kind: 'user',
      userId: 'ada',
      isOperator: false,
      key: { id: 'key', sha256: Buffer.alloc(32), forWebApp: false, hasBudget: false, look, ...opened },
    },
    rowChanges: {
      watch: (listener: (change: RowChange | null) => void) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    clock: { now: () => new Date() },
    log: pino({ level: 'silent' }),
  } as unknown as Context);
  const announce = async (change: RowChange | null = { of: 'api_key', id: 'key' }) => {
    for (const listener of listeners) listener(change);
    await vi.advanceTimersByTimeAsync(0);
  };
  return { state, look, signal, stop, announce };
}

const open = { scopes: ['everything' as const], expiresAt: null };

test('a key that was revoked before the watch began, which nobody announced, ends what it has open', async () => {
  const { state, signal } = watch(open);
  state.found = null;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(signal.aborted).toBe(true);
});

test('a revocation while changes cannot be heard is found at once, and no other is looked for', async () => {
  const { state, look, signal, announce } = watch(open);
  await vi.advanceTimersByTimeAsync(1_000);
  const asked = look.mock.calls.length;
  await announce({ of: 'api_key', id: 'other' });
  await announce({ of: 'user', id: 'key' });
  expect(look.mock.calls).toHaveLength(asked);
  await announce(null);
  expect(look.mock.calls).toHaveLength(asked + 1);
  expect(signal.aborted).toBe(false);
  state.found = null;
  await announce(null);
  expect(signal.aborted).toBe(true);
});

test('a revocation that comes while the key is being read is found', async () => {
  const { state, look, signal, announce } = watch(open);
  const slow = Promise.withResolvers<Found>();
  look.mockImplementationOnce(() => slow.promise);
  await announce(null);
  state.found = null;
  await announce();
  slow.resolve(open);
  await vi.advanceTimersByTimeAsync(0);
  expect(signal.aborted).toBe(true);
});

test('a revocation while the database is away is found when it is back', async () => {
  const { state, look, signal, announce } = watch(open);
  state.error = new Error('away');
  await announce(null);
  const asked = look.mock.calls.length;
  for (let n = 0; n < 10; n += 1) await announce(null);
  expect(look.mock.calls).toHaveLength(asked);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(signal.aborted).toBe(false);
  Object.assign(state, { error: null, found: null });
  await vi.advanceTimersByTimeAsync(500);
  expect(signal.aborted).toBe(true);
});

test('an end that moves nearer, and one that moves away, hold from then on', async () => {
  const sooner = watch({ ...open, expiresAt: inMinutes(60) });
  const later = watch({ ...open, expiresAt: inMinutes(1) });
  sooner.state.found = { ...open, expiresAt: new Date(Date.now() + 10_000) };
  later.state.found = open;
  await sooner.announce();
  await later.announce();
  // The database is asked, but says no more: what is known of the end counts.
  sooner.state.error = new Error('away');
  await vi.advanceTimersByTimeAsync(9_000);
  expect(sooner.signal.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(sooner.signal.aborted).toBe(true);
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  expect(later.signal.aborted).toBe(false);
});

test('a key that loses a scope ends what it has open, and one that gets another does not', async () => {
  const loses = watch({ ...open, scopes: ['read', 'inference'] });
  loses.state.found = { ...open, scopes: ['read'] };
  await loses.announce();
  expect(loses.signal.aborted).toBe(true);
  const gets = watch({ ...open, scopes: ['read'] });
  for (const scopes of [['read', 'inference'], ['everything']] as KeyScope[][]) {
    gets.state.found = { ...open, scopes };
    await gets.announce();
  }
  expect(gets.signal.aborted).toBe(false);
});

test('a database that is away ends nothing, until a change was announced that cannot be read', async () => {
  const { state, signal, announce } = watch(open);
  state.error = new Error('away');
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  expect(signal.aborted).toBe(false);
  await announce();
  expect(signal.aborted).toBe(true);
});

test('nothing is asked once the watch has stopped', async () => {
  const { look, stop, announce } = watch(open);
  await announce();
  stop();
  const asked = look.mock.calls.length;
  await announce();
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  expect(look.mock.calls).toHaveLength(asked);
});
