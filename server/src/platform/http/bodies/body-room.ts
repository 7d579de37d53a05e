import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fairQueue } from '../../concurrency/fair-queue.ts';
import { AppError } from '../../errors.ts';
import { callerOf } from '../callers/rate-limits.ts';
import { clientSignal } from '../client-signal.ts';
import { onClose } from '../on-close.ts';

/** A body of 30 MB is in memory several times while it is parsed. */
const AT_ONCE = 8;
const PER_USER = 2;
/** How long a call waits for room, before its body is read. */
const WAIT_MS = 10_000;
/** One megabit a second. */
const SLOW_BYTES_PER_SECOND = 128 * 1024;
const SLOW_AFTER_MS = 5_000;
const LOOK_EVERY_MS = 500;

/** A request that has room, since when, and the bytes that its connection had received before. */
type Sender = { request: FastifyRequest; key: string; since: number; bytesBefore: number };

/**
 * Limits the number of bodies in memory, round-robin by user. Returns a hook to run before the body is read,
 * which throws AppError 'unavailable' if no room is free within `waitMs`. If all room is taken and a user
 * without any waits, the connection of a slow sender is closed, so that a few accounts cannot block the
 * others. Room is freed at the end of the response, or when the handler calls `request.leaveBodyRoom()`,
 * which also releases the body.
 */
export function limitHeldBodies(
  app: FastifyInstance,
  {
    atOnce = AT_ONCE,
    perUser = PER_USER,
    waitMs = WAIT_MS,
    slowAfterMs = SLOW_AFTER_MS,
    lookEveryMs = LOOK_EVERY_MS,
  } = {},
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const room = fairQueue(atOnce, { perKey: perUser, lastForNewcomer: true });
  const senders = new Set<Sender>();
  const makeRoomFor = (key: string) => {
    const all = [...senders];
    if (all.length < atOnce || all.some((sender) => sender.key === key)) return;
    all.find((sender) => isSlow(sender, slowAfterMs))?.request.raw.destroy();
  };
  app.decorateRequest('leaveBodyRoom', () => undefined);
  return async (request, reply) => {
    const key = callerOf(request);
    const client = clientSignal(reply);
    const signal = AbortSignal.any([AbortSignal.timeout(waitMs), client]);
    const watching = setInterval(makeRoomFor, lookEveryMs, key).unref();
    const leave = await room
      .enter(key, signal)
      .catch((cause: unknown) => {
        throw tooMany(cause);
      })
      .finally(() => clearInterval(watching));
    const { bytesRead: bytesBefore } = request.raw.socket;
    const sender = { request, key, since: performance.now(), bytesBefore };
    senders.add(sender);
    const giveBack = () => {
      if (senders.delete(sender)) leave();
    };
    request.leaveBodyRoom = () => {
      request.body = undefined;
      giveBack();
    };
    onClose(reply, giveBack);
  };
}

function isSlow({ request: { raw }, since, bytesBefore }: Sender, afterMs: number): boolean {
  const ms = performance.now() - since;
  const bytesPerSecond = ((raw.socket.bytesRead - bytesBefore) / ms) * 1_000;
  return !raw.complete && ms > afterMs && bytesPerSecond < SLOW_BYTES_PER_SECOND;
}

function tooMany(cause: unknown): AppError {
  return new AppError('unavailable', {
    publicMessage: 'Too many files are being sent at the moment. Try again shortly',
    cause,
  });
}

declare module 'fastify' {
  interface FastifyRequest {
    leaveBodyRoom: () => void;
  }
}
