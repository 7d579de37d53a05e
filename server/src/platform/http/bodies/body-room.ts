import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../errors.ts';
import { fairQueue } from '../../fair-queue.ts';
import { callerOf } from '../callers/rate-limits.ts';
import { clientSignal } from '../client-signal.ts';
import { onClose } from '../on-close.ts';

/** While a body of 30 MB is read it is there several times over: so many at once leave room for all else. */
const AT_ONCE = 8;
const PER_USER = 2;
/** A call waits so long before any of its body is read, which takes no memory. */
const WAIT_MS = 10_000;

/**
 * Lets few of the bodies that are held in memory come in at once, by turns of their users. Returns what a call passes before
 * its body is read: it throws AppError 'unavailable' where there is no room in time. A handler that needs the body no
 * longer gives its room back by `request.leaveBodyRoom()`; the end of the answer does it anyway.
 */
export function limitHeldBodies(
  app: FastifyInstance,
  { atOnce = AT_ONCE, perUser = PER_USER, waitMs = WAIT_MS } = {},
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const room = fairQueue(atOnce, { perKey: perUser, lastForNewcomer: true });
  app.decorateRequest('leaveBodyRoom', () => undefined);
  return async (request, reply) => {
    const client = clientSignal(reply);
    const signal = AbortSignal.any([AbortSignal.timeout(waitMs), client]);
    const leave = await room.enter(callerOf(request), signal).catch((cause: unknown) => {
      throw tooMany(cause);
    });
    let isIn = true;
    request.leaveBodyRoom = () => {
      if (isIn) leave();
      isIn = false;
    };
    onClose(reply, request.leaveBodyRoom);
  };
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
