/** The arithmetic of a usage window. Pure; amounts are micro-BGL, times are milliseconds. */
export type Window = {
  heldMicro: bigint;
  /** What was settled, written yet or not. */
  usedMicro: bigint;
  reservedMicro: bigint;
  /** How many reservations are open. */
  open: number;
  /** How many events were settled. */
  events: number;
  openedMs: number;
  /** When something was last reserved or settled. */
  usedMs: number;
};

const IDLE_MS = 60_000;
const AGE_MS_MAX = 60 * 60_000;
const EVENTS_MAX = 10_000;
/** A hold grows by what is used in this time at the window's rate so far. */
const AHEAD_MS = 10 * 60_000;
/** A hold begins with, and grows by at least, this many times the price to reserve. */
const AHEAD_PRICES = 4n;
/** The shortest time over which a rate is measured. */
const RATE_MS_MIN = 60_000;

export function openWindow(heldMicro: bigint, nowMs: number): Window {
  return { heldMicro, usedMicro: 0n, reservedMicro: 0n, open: 0, events: 0, openedMs: nowMs, usedMs: nowMs };
}

/** What is left of the hold. */
export function headroomMicro({ heldMicro, usedMicro, reservedMicro }: Window): bigint {
  return heldMicro - usedMicro - reservedMicro;
}

/** The window with this price reserved; null where its hold has no room for it. */
export function reserve(window: Window, priceMicro: bigint, nowMs: number): Window | null {
  if (headroomMicro(window) < priceMicro) return null;
  return {
    ...window,
    reservedMicro: window.reservedMicro + priceMicro,
    open: window.open + 1,
    usedMs: nowMs,
  };
}

/** The window with an open reservation raised by this much; null where its hold has no room for it. */
export function widen(window: Window, byMicro: bigint, nowMs: number): Window | null {
  if (headroomMicro(window) < byMicro) return null;
  return { ...window, reservedMicro: window.reservedMicro + byMicro, usedMs: nowMs };
}

/** The window after a reservation has ended with a charge of at most its price, or null for none. Throws for a higher charge. */
export function settle(
  window: Window,
  { priceMicro, amountMicro }: { priceMicro: bigint; amountMicro: bigint | null },
  nowMs: number,
): Window {
  if (amountMicro !== null && (amountMicro < 0n || amountMicro > priceMicro))
    throw new Error(`A reservation of ${priceMicro} cannot be charged ${amountMicro}`);
  return {
    ...window,
    reservedMicro: window.reservedMicro - priceMicro,
    open: window.open - 1,
    usedMicro: window.usedMicro + (amountMicro ?? 0n),
    events: window.events + (amountMicro === null ? 0 : 1),
    usedMs: nowMs,
  };
}

/** The hold with which a window begins where there is enough credit. */
export function firstHoldMicro(priceMicro: bigint): bigint {
  return priceMicro * AHEAD_PRICES;
}

/** By how much the hold must grow at least for this price, and by how much it grows where there is enough credit. */
export function growth(
  window: Window,
  priceMicro: bigint,
  nowMs: number,
): { leastMicro: bigint; wantedMicro: bigint } {
  const leastMicro = priceMicro - headroomMicro(window);
  const elapsed = BigInt(Math.max(nowMs - window.openedMs, RATE_MS_MIN));
  const byRate = (window.usedMicro * BigInt(AHEAD_MS)) / elapsed;
  const step = firstHoldMicro(priceMicro);
  const wantedMicro = leastMicro + (byRate > step ? byRate : step);
  return { leastMicro, wantedMicro };
}

/** Whether the window takes no new reservations: it is an hour old, or full. */
export function isOver(window: Window, nowMs: number): boolean {
  return nowMs - window.openedMs >= AGE_MS_MAX || window.events >= EVENTS_MAX;
}

/** Whether the window is to be closed: no reservation is open, and it is over or idle. */
export function isDue(window: Window, nowMs: number): boolean {
  return window.open === 0 && (isOver(window, nowMs) || nowMs - window.usedMs >= IDLE_MS);
}
