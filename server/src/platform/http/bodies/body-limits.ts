import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fairQueue } from '../../concurrency/fair-queue.ts';
import { AppError, unavailable } from '../../errors.ts';
import { callerOf } from '../callers/rate-limits.ts';
import { clientOf, onClose, slowLineMs } from '../connection.ts';

const BODY_MS_MAX = 30_000;

declare module 'fastify' {
  interface FastifyRequest {
    liftBodyDeadline: () => void;
  }
}

/** Small, because a body of 30 MB is in memory several times while it is parsed. */
const AT_ONCE = 8;

const PER_USER = 2;

/** How long a call waits for a slot, before its body is read. */
const WAIT_MS = 10_000;

/** One megabit a second. */
const SLOW_BYTES_PER_SECOND = 128 * 1024;

const SLOW_AFTER_MS = 5_000;
const CHECK_EVERY_MS = 500;

declare module 'fastify' {
  interface FastifyRequest {
    releaseBody: () => void;
  }
}

/** If a body pauses for this long, its connection is closed. */
const STALL_MS = 60_000;

/**
 * Ends requests whose body has not arrived after `bodyMsMax` plus the time that its bytes need on a slow
 * line. They fail with AppError 'request_timeout', or, if the response was already sent, by closing the
 * connection. Handlers that receive a file call `request.liftBodyDeadline()` and set their own limits.
 */
export function closeSlowBodies(app: FastifyInstance, bodyMsMax = BODY_MS_MAX): void {
  app.decorateRequest('liftBodyDeadline', () => undefined);
  app.addHook('onRequest', async (request, reply) => {
    const { raw } = request;
    if (raw.complete || !hasBody(request)) return;
    const timer = setTimeout(
      () => {
        // The parser of the body turns the error into a response. Without a parser, close the connection.
        if (raw.listenerCount('error') === 0 || reply.sent) return void raw.destroy();
        reply.header('connection', 'close');
        raw.emit('error', late());
      },
      bodyMsMax + slowLineMs(largestBytes(request)),
    ).unref();
    const lift = () => clearTimeout(timer);
    request.liftBodyDeadline = lift;
    raw.once('end', lift);
    raw.once('close', lift);
  });
}

function hasBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Returns the announced size of the body, but at most what the endpoint accepts. */
export function largestBytes({ headers, routeOptions }: FastifyRequest): number {
  const stated = Number(headers['content-length'] ?? Number.POSITIVE_INFINITY);
  return Math.min(stated, routeOptions.bodyLimit ?? 0);
}

function late(): AppError {
  return new AppError('request_timeout', { publicMessage: 'The body of the request did not come in time' });
}

/** A request with a slot, when it got the slot, and the bytes that its connection had received by then. */
type Sender = { request: FastifyRequest; key: string; since: number; bytesBefore: number };

/**
 * Limits the number of bodies in memory. Returns a hook to run before the body is read. It waits for a slot,
 * and throws AppError 'unavailable' if there is none within `waitMs`. Users are served round-robin. If all
 * slots are used and a user without a slot waits, the connection of a slow sender is closed. So a few
 * accounts cannot block the others. A slot is released at the end of the response, or when the handler calls
 * `request.releaseBody()`, which also releases the body.
 */
export function limitBufferedBodies(
  app: FastifyInstance,
  {
    atOnce = AT_ONCE,
    perUser = PER_USER,
    waitMs = WAIT_MS,
    slowAfterMs = SLOW_AFTER_MS,
    checkEveryMs = CHECK_EVERY_MS,
  } = {},
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const room = fairQueue(atOnce, { perKey: perUser, lastForNewcomer: true });
  const senders = new Set<Sender>();
  const closeSlowSender = (key: string) => {
    const all = [...senders];
    if (all.length < atOnce || all.some((sender) => sender.key === key)) return;
    all.find((sender) => isSlow(sender, slowAfterMs))?.request.raw.destroy();
  };
  app.decorateRequest('releaseBody', () => undefined);
  return async (request, reply) => {
    const key = callerOf(request);
    const { signal: client } = clientOf(reply);
    const signal = AbortSignal.any([AbortSignal.timeout(waitMs), client]);
    const watching = setInterval(closeSlowSender, checkEveryMs, key).unref();
    const leave = await room
      .enter(key, signal)
      .catch((cause: unknown) => {
        throw unavailable('Too many files are being sent at the moment. Try again shortly', { cause });
      })
      .finally(() => clearInterval(watching));
    const { bytesRead: bytesBefore } = request.raw.socket;
    const sender = { request, key, since: performance.now(), bytesBefore };
    senders.add(sender);
    const release = () => {
      if (senders.delete(sender)) leave();
    };
    request.releaseBody = () => {
      request.body = undefined;
      release();
    };
    onClose(reply, release);
  };
}

function isSlow({ request: { raw }, since, bytesBefore }: Sender, afterMs: number): boolean {
  const ms = performance.now() - since;
  const bytesPerSecond = ((raw.socket.bytesRead - bytesBefore) / ms) * 1_000;
  return !raw.complete && ms > afterMs && bytesPerSecond < SLOW_BYTES_PER_SECOND;
}

/**
 * Closes the connection of a request, without a response, if its body pauses for `stallMs` (default: one
 * minute) or takes longer than `wholeMs` in total. Also applies to the rest of a body that was rejected.
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
