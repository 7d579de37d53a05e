import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../../errors.ts';
import { msOverSlowLine } from '../ms-over-slow-line.ts';

const BODY_MS_MAX = 30_000;

/**
 * Ends requests whose body has not arrived after `bodyMsMax` plus the time for its bytes on a slow line: with
 * AppError 'request_timeout', or by closing the connection if the response was already sent. Handlers that
 * receive a file call `request.liftBodyDeadline()` and set their own limits.
 */
export function cutSlowBodies(app: FastifyInstance, bodyMsMax = BODY_MS_MAX): void {
  app.decorateRequest('liftBodyDeadline', () => undefined);
  app.addHook('onRequest', async (request, reply) => {
    const { raw } = request;
    if (raw.complete || !hasBody(request)) return;
    const timer = setTimeout(
      () => {
        // The body's parser reports the error; without one the connection is closed.
        if (raw.listenerCount('error') === 0 || reply.sent) return void raw.destroy();
        reply.header('connection', 'close');
        raw.emit('error', late());
      },
      bodyMsMax + msOverSlowLine(largestBytes(request)),
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

/** `Content-Length`, limited to what the endpoint accepts. */
function largestBytes({ headers, routeOptions }: FastifyRequest): number {
  const stated = Number(headers['content-length'] ?? Number.POSITIVE_INFINITY);
  return Math.min(stated, routeOptions.bodyLimit ?? 0);
}

function late(): AppError {
  return new AppError('request_timeout', { publicMessage: 'The body of the request did not come in time' });
}

declare module 'fastify' {
  interface FastifyRequest {
    liftBodyDeadline: () => void;
  }
}
