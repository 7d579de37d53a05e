import type { getUsageWindow as getUsageWindowEndpoint } from '@bakehouse/contract/credits';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import type { Context, Services } from '../../../platform/context.ts';
import { notFound } from '../../../platform/errors.ts';
import { type ClosedWindow, closeWindowRow, findWindow, listEvents } from './usage-queries.ts';

const IDLE_MS = 60_000;
const AGE_MS_MAX = 60 * 60_000;
const EVENTS_MAX = 10_000;

/** When a hold grows, it grows by the usage that is expected in this time at the window's average rate. */
const AHEAD_MS = 10 * 60_000;

/** A hold starts with this multiple of the price to reserve, and grows by at least this multiple. */
const AHEAD_PRICES = 4n;

/** The rate is measured over at least this time. */
const RATE_MS_MIN = 60_000;

/** The state of a usage window, and its arithmetic. Amounts are in micro-BGL, times in milliseconds. */
export type Window = {
  heldMicro: bigint;
  /** Usage of settled reservations, including usage that is not written yet. */
  usedMicro: bigint;
  reservedMicro: bigint;
  /** The number of open reservations. */
  open: number;
  /** The number of settled events. */
  events: number;
  openedMs: number;
  /** When a reservation was last made or settled. */
  usedMs: number;
};

export function openWindow(heldMicro: bigint, nowMs: number): Window {
  return { heldMicro, usedMicro: 0n, reservedMicro: 0n, open: 0, events: 0, openedMs: nowMs, usedMs: nowMs };
}

/**
 * Closes a window, for its leader, or for any process after its leader's lease has expired. Logs usage that
 * could not be charged.
 */
export async function closeWindow(
  services: Pick<Services, 'db' | 'pool' | 'log' | 'clock'>,
  { windowId, leaderId }: { windowId: string; leaderId: string | null },
): Promise<ClosedWindow> {
  const closed = await closeWindowRow(services, { windowId, leaderId, at: services.clock.now() });
  if (closed.uncharged > 0n) {
    services.log.error(
      { window_id: windowId, outcome: closed.outcome, uncharged: formatBgl(closed.uncharged) },
      'usage exceeded the hold of its window; the excess is not charged',
    );
  }
  return closed;
}

/** Returns one of the caller's usage windows with its answers, newest first. Throws AppError 'not_found'. */
export async function getUsageWindow(
  ctx: Context,
  { params: { windowId }, query: { limit, cursor } }: InputOf<typeof getUsageWindowEndpoint>,
): Promise<ResponseOf<typeof getUsageWindowEndpoint>> {
  const window = await findWindow(ctx.db, { windowId, userId: ctx.caller.userId });
  if (!window) throw notFound('Usage window');
  const before = cursor === undefined ? null : BigInt(cursor);
  const events = await listEvents(ctx.db, { window, before, limit: limit + 1 });
  const page = events.slice(0, limit);
  return {
    id: window.id,
    source: window.source,
    key_id: window.key_id,
    opened_at: window.opened_at.toISOString(),
    closed_at: window.closed_at?.toISOString() ?? null,
    answers_total: Number(window.events),
    used: formatBgl(window.used_micro),
    answers: page.map(({ id, at, amount_micro, quantities }) => ({
      id,
      at: at.toISOString(),
      amount: formatBgl(amount_micro),
      quantities: quantities as Record<string, number>,
    })),
    next_cursor: events.length > limit ? (page.at(-1)?.n.toString() ?? null) : null,
  };
}

/** Returns the part of the hold that is neither used nor reserved. */
export function headroomMicro({ heldMicro, usedMicro, reservedMicro }: Window): bigint {
  return heldMicro - usedMicro - reservedMicro;
}

/** Returns the window after it has reserved this price; null if not enough of its hold is left. */
export function reserve(window: Window, priceMicro: bigint, nowMs: number): Window | null {
  if (headroomMicro(window) < priceMicro) return null;
  return {
    ...window,
    reservedMicro: window.reservedMicro + priceMicro,
    open: window.open + 1,
    usedMs: nowMs,
  };
}

/**
 * Returns the window after an open reservation was raised by this amount; null if not enough of its hold is
 * left.
 */
export function extendReservation(window: Window, byMicro: bigint, nowMs: number): Window | null {
  if (headroomMicro(window) < byMicro) return null;
  return { ...window, reservedMicro: window.reservedMicro + byMicro, usedMs: nowMs };
}

/**
 * Returns the window after a reservation has ended with a charge, or without one if the amount is null.
 * Throws if the charge exceeds the reserved price.
 */
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

/** Returns the preferred first hold of a window. */
export function firstHoldMicro(priceMicro: bigint): bigint {
  return priceMicro * AHEAD_PRICES;
}

/** Returns by how much the hold must grow at least for this price, and by how much it should grow. */
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

/**
 * Returns true if the window accepts no new reservations, because it is an hour old or has the maximum number
 * of events.
 */
export function isOver(window: Window, nowMs: number): boolean {
  return nowMs - window.openedMs >= AGE_MS_MAX || window.events >= EVENTS_MAX;
}

/**
 * Returns true if the window must be closed: it has no open reservations, and accepts no new ones or is idle.
 */
export function isDue(window: Window, nowMs: number): boolean {
  return window.open === 0 && (isOver(window, nowMs) || nowMs - window.usedMs >= IDLE_MS);
}
