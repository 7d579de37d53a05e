import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../../errors.ts';
import { msOverSlowLine } from '../ms-over-slow-line.ts';

const BODY_MS_MAX = 30_000;

/**
 * Cuts requests whose body is not there after half a minute, or in the time of a large one, also where nobody reads it because the
 * answer was given before: their connections would stay open for ever. Handlers that take in a file
 * lift it with `request.liftBodyDeadline()` and have limits of their own.
 */
export function cutSlowBodies(app: FastifyInstance, bodyMsMax = BODY_MS_MAX): void {
  app.decorateRequest('liftBodyDeadline', () => undefined);
  app.addHook('onRequest', async (request, reply) => {
    const { raw } = request;
    if (raw.complete || !hasBody(request)) return;
    const timer = setTimeout(
      () => {
        // Whoever parses the body answers the error; where nobody does, the connection ends.
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

/** As its head says, and no more than the call takes. */
function largestBytes({ headers, routeOptions }: FastifyRequest): number {
  const said = Number(headers['content-length'] ?? Number.POSITIVE_INFINITY);
  return Math.min(said, routeOptions.bodyLimit ?? 0);
}

function late(): AppError {
  return new AppError('request_timeout', { publicMessage: 'The body of the request did not come in time' });
}

declare module 'fastify' {
  interface FastifyRequest {
    liftBodyDeadline: () => void;
  }
}
