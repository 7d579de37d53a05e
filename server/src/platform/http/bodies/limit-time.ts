import type { FastifyRequest } from 'fastify';

/** The connection of a body that pauses this long is closed. */
const STALL_MS = 60_000;

/**
 * Closes the connection of a request without a response if its body pauses for `stallMs` (default: one
 * minute) or takes longer than `wholeMs` in total, even while the rest of a rejected body arrives.
 */
export function limitTime(
  { raw }: FastifyRequest,
  { stallMs = STALL_MS, wholeMs }: { stallMs?: number | undefined; wholeMs?: number | undefined },
): void {
  const giveUp = () => raw.destroy();
  raw.setTimeout(stallMs, giveUp);
  const timer = wholeMs === undefined ? undefined : setTimeout(giveUp, wholeMs).unref();
  const lift = () => {
    raw.setTimeout(0);
    clearTimeout(timer);
  };
  raw.once('end', lift);
  raw.once('close', lift);
}
