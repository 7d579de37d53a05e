import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fairQueue } from '../../concurrency/fair-queue.ts';
import { AppError } from '../../errors.ts';
import { callerOf } from '../callers/rate-limits.ts';
import { clientSignal } from '../client-signal.ts';
import { onClose } from '../on-close.ts';

/** While a body of 30 MB is read it is there several times over: so many at once leave room for all else. */
const AT_ONCE = 8;
const PER_USER = 2;
/** A call waits so long before any of its body is read, which takes no memory. */
const WAIT_MS = 10_000;
/** Who sends slower than a megabit a second, after so long, makes room where it is full. */
const SLOW_BYTES_PER_SECOND = 128 * 1024;
const SLOW_AFTER_MS = 5_000;
const LOOK_EVERY_MS = 500;

/** Who has a place, since when, and how much the connection had brought until then. */
type Sender = { request: FastifyRequest; key: string; since: number; bytesBefore: number };

/**
 * Lets few of the bodies that are held in memory come in at once, by turns of their users. Returns what a call passes before
 * its body is read: it throws AppError 'unavailable' where there is no room in time. Where all places are taken and
 * somebody without one waits, whoever sends slowly is cut: a few accounts must not keep the others out. A handler that needs the body no
 * longer gives body and room back by `request.leaveBodyRoom()`; the end of the answer gives the room back anyway.
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
    const impatience = setInterval(makeRoomFor, lookEveryMs, key).unref();
    const leave = await room
      .enter(key, signal)
      .catch((cause: unknown) => {
        throw tooMany(cause);
      })
      .finally(() => clearInterval(impatience));
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
