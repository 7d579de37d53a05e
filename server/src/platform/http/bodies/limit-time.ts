import type { FastifyRequest } from 'fastify';

/** The connection of a body that pauses for so long is closed. */
const STALL_MS = 60_000;

/**
 * Closes the connection of a request without an answer where its body pauses for `stallMs`, a minute unless said, or takes
 * longer than `wholeMs` in all; also while the rest of a refused body comes.
 */
export function limitTime(
  { raw }: FastifyRequest,
  { stallMs = STALL_MS, wholeMs }: { stallMs?: number | undefined; wholeMs?: number | undefined },
): void {
  const giveUp = () => raw.destroy();
  raw.setTimeout(stallMs, giveUp);
  const late = wholeMs === undefined ? undefined : setTimeout(giveUp, wholeMs).unref();
  const lift = () => {
    raw.setTimeout(0);
    clearTimeout(late);
  };
  raw.once('end', lift);
  raw.once('close', lift);
}
