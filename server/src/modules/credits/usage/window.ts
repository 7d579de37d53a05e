/**
 * The arithmetic of a usage window: what it holds, what was used of it, and what is reserved for work that
 * goes on. Pure; amounts are micro-BGL, times are milliseconds.
 */
export type Window = {
  heldMicro: bigint;
  /** Settled in it, whether it is written yet or not. */
  usedMicro: bigint;
  reservedMicro: bigint;
  /** Reservations that are open. */
  open: number;
  /** Events that were settled. */
  events: number;
  openedMs: number;
  /** When something was last reserved or settled. */
  usedMs: number;
};

const IDLE_MS = 60_000;
const AGE_MS_MAX = 60 * 60_000;
const EVENTS_MAX = 10_000;
/** A window holds ahead what it uses in so long at its rate so far, */
const AHEAD_MS = 10 * 60_000;
/** and at least so many times the highest price of what is asked for. */
const AHEAD_PRICES = 4n;
/** A rate is measured over this long at least. */
const RATE_MS_MIN = 60_000;

export function openWindow(heldMicro: bigint, nowMs: number): Window {
  return { heldMicro, usedMicro: 0n, reservedMicro: 0n, open: 0, events: 0, openedMs: nowMs, usedMs: nowMs };
}

/** What the hold has left. */
export function headroomMicro({ heldMicro, usedMicro, reservedMicro }: Window): bigint {
  return heldMicro - usedMicro - reservedMicro;
}

/** The window with a highest price reserved in it; null where its hold has no room for that. */
export function reserve(window: Window, priceMicro: bigint, nowMs: number): Window | null {
  if (headroomMicro(window) < priceMicro) return null;
  return {
    ...window,
    reservedMicro: window.reservedMicro + priceMicro,
    open: window.open + 1,
    usedMs: nowMs,
  };
}

/** The window after a reservation has ended with a charge of at most its price; null: nothing was used. */
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

/** What the first hold of a window is, where there is credit enough. */
export function firstHoldMicro(priceMicro: bigint): bigint {
  return priceMicro * AHEAD_PRICES;
}

/** By how much the hold must grow for this price, and by how much it had better: by its recent rate. */
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

/** Whether the next reservation of this price would have to wait for a larger hold. */
export function isNearlyUsedUp(window: Window, priceMicro: bigint): boolean {
  return headroomMicro(window) < priceMicro * 2n;
}

/** Whether the window takes nothing new any more: it is an hour old, or full. */
export function isOver(window: Window, nowMs: number): boolean {
  return nowMs - window.openedMs >= AGE_MS_MAX || window.events >= EVENTS_MAX;
}

/** Whether the window is to be closed: nothing goes on in it, and it is over or idle. */
export function isDue(window: Window, nowMs: number): boolean {
  return window.open === 0 && (isOver(window, nowMs) || nowMs - window.usedMs >= IDLE_MS);
}
