import { expect, test } from 'vitest';
import {
  extendReservation,
  firstHoldMicro,
  growth,
  headroomMicro,
  isDue,
  isOver,
  openWindow,
  reserve,
  settle,
  type Window,
} from './usage-window.ts';

const PRICE = 100n;
const MINUTE_MS = 60_000;

test('a window never promises more than its hold', () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const next = random(seed);
    let window = openWindow(firstHoldMicro(PRICE), 0);
    const open: bigint[] = [];
    let charged = 0n;
    for (let step = 0; step < 200; step += 1) {
      const priceMicro = BigInt(1 + next(150));
      const at = next(open.length || 1);
      const reservedBefore = open[at];
      if (next(4) === 0 && reservedBefore !== undefined) {
        const wider = extendReservation(window, priceMicro, step);
        expect(wider === null, `seed ${seed}`).toBe(headroomMicro(window) < priceMicro);
        if (wider) open[at] = reservedBefore + priceMicro;
        window = wider ?? grown(window, priceMicro, step);
      } else if (next(2) === 0) {
        const reserved = reserve(window, priceMicro, step);
        expect(reserved === null, `seed ${seed}`).toBe(headroomMicro(window) < priceMicro);
        if (reserved) open.push(priceMicro);
        window = reserved ?? grown(window, priceMicro, step);
      } else {
        const reservedMicro = open.splice(at, 1)[0];
        if (reservedMicro === undefined) continue;
        const amountMicro = BigInt(next(Number(reservedMicro) + 1));
        charged += amountMicro;
        window = settle(window, { priceMicro: reservedMicro, amountMicro }, step);
      }
      expect(headroomMicro(window), `seed ${seed}`).toBeGreaterThanOrEqual(0n);
      expect(window.open).toBe(open.length);
      expect(window.usedMicro, `seed ${seed}`).toBe(charged);
    }
  }
});

function grown(window: Window, priceMicro: bigint, nowMs: number): Window {
  const { leastMicro, wantedMicro } = growth(window, priceMicro, nowMs);
  const enough = { ...window, heldMicro: window.heldMicro + leastMicro };
  expect(reserve(enough, priceMicro, nowMs)).not.toBeNull();
  expect(reserve({ ...enough, heldMicro: enough.heldMicro - 1n }, priceMicro, nowMs)).toBeNull();
  return { ...window, heldMicro: window.heldMicro + wantedMicro };
}

function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

test('a window grows by ten minutes of its rate, and at least by a few answers', () => {
  const slow = { ...openWindow(100n, 0), usedMicro: 50n };
  expect(growth(slow, PRICE, 30 * MINUTE_MS)).toEqual({ leastMicro: 50n, wantedMicro: 450n });
  const fast = { ...openWindow(60_000n, 0), usedMicro: 60_000n };
  expect(growth(fast, PRICE, 6 * MINUTE_MS)).toEqual({ leastMicro: 100n, wantedMicro: 100_100n });
  // The first minute is too short for a rate.
  expect(growth({ ...fast, usedMicro: 6_000n, heldMicro: 6_000n }, PRICE, 1).wantedMicro).toBe(60_100n);
});

test('a window expires after an hour or when full, and is due when idle', () => {
  const window = openWindow(1_000n, 0);
  expect(isDue(window, MINUTE_MS - 1)).toBe(false);
  expect(isDue(window, MINUTE_MS)).toBe(true);
  const busy = reserve(window, PRICE, 0) ?? window;
  expect([isOver(busy, 60 * MINUTE_MS), isDue(busy, 60 * MINUTE_MS)]).toEqual([true, false]);
  expect(isOver({ ...window, events: 10_000 }, 0)).toBe(true);
});

test('charges at most the price of a reservation', () => {
  const window = reserve(openWindow(1_000n, 0), PRICE, 0) ?? openWindow(0n, 0);
  expect(() => settle(window, { priceMicro: PRICE, amountMicro: 101n }, 1)).toThrow('cannot be charged');
  expect(settle(window, { priceMicro: PRICE, amountMicro: null }, 1)).toMatchObject({
    events: 0,
    usedMicro: 0n,
    reservedMicro: 0n,
  });
});
