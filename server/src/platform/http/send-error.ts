import { STATUS_CODES } from 'node:http';
import type { ErrorBody } from '@bakehouse/contract/errors';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { isDatabaseAway } from '../db/errors/is-database-away.ts';
import { AppError } from '../errors.ts';
import type { DescribeError } from './bind.ts';
import { toInvalidRequest } from './validation/invalid-request.ts';

/** Most of what is not there is there again soon. */
const RETRY_AFTER_S = 5;

const REPEAT_MS = 60_000;
/** When a server last logged the cause of an answer, by route and code. */
const loggedAt = new WeakMap<FastifyInstance, Map<string, number>>();

/** The one place where errors meet the wire. What was not meant for the caller is logged and stays here. */
export function sendError(
  error: FastifyError | AppError,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const known = toAppError(error, request);
  if (known.status === 500) request.log.error({ err: error, ...about(request) }, 'request failed');
  else if (
    known.status > 500 &&
    known.cause !== undefined &&
    isNews(request.server, `${request.routeOptions.url} ${known.code}`)
  )
    request.log.warn({ err: known.cause, ...about(request) }, `request answered with ${known.status}`);
  const afterS = known.retryAfterMs ? Math.ceil(known.retryAfterMs / 1000) : RETRY_AFTER_S;
  if ((known.code === 'unavailable' || known.retryAfterMs) && !reply.hasHeader('retry-after')) {
    reply.header('retry-after', afterS);
  }
  if (!known.shouldRetry) reply.header('x-should-retry', 'false');
  reply.code(known.status);
  const { describeError } = request.routeOptions.config;
  const body = describeError ? describeError(known, { request, reply }) : toErrorBody(known, request.id);
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(body));
}

function about({ id, routeOptions, caller }: FastifyRequest) {
  return {
    request_id: id,
    path: routeOptions.url,
    ...(caller.kind === 'user' && { user_id: caller.userId }),
  };
}

/** Whether the last line about this is at least a minute old: what is away is asked for again and again. */
function isNews(server: FastifyInstance, what: string): boolean {
  const now = performance.now();
  const times = loggedAt.get(server) ?? new Map<string, number>();
  loggedAt.set(server, times);
  if (now - (times.get(what) ?? Number.NEGATIVE_INFINITY) < REPEAT_MS) return false;
  times.set(what, now);
  return true;
}

type Said = Pick<AppError, 'status' | 'publicMessage' | 'param' | 'data'> & { code: string };

/** The one shape of errors. `code` may be another than ours, e.g. the sign-in library's. */
export function toErrorBody(error: Said, requestId: string): ErrorBody {
  return {
    error: {
      code: error.code,
      message: error.publicMessage,
      type: error.status === 400 ? 'invalid_request_error' : error.status < 500 ? error.code : 'server_error',
      param: error.param,
      request_id: requestId,
      ...error.data,
    },
    ...(error.data.required_amount !== undefined && { required_amount: error.data.required_amount }),
  };
}

function toAppError(error: FastifyError | AppError, { raw }: FastifyRequest): AppError {
  if (error instanceof AppError) return error;
  if (hasZodFastifySchemaValidationErrors(error)) return toInvalidRequest(error);
  if (isDatabaseAway(error)) {
    return new AppError('unavailable', {
      publicMessage: 'The database does not answer. Try again in a moment',
      cause: error,
    });
  }
  const status = error.statusCode ?? 500;
  if (status === 413)
    return new AppError('payload_too_large', { publicMessage: 'The request is too large', cause: error });
  if (status === 415) {
    return new AppError('unsupported_media_type', { publicMessage: error.message, cause: error });
  }
  if (status >= 400 && status < 500) {
    return new AppError('invalid_request', {
      publicMessage: error.message || (STATUS_CODES[status] ?? 'Bad request'),
      cause: error,
    });
  }
  // The client left: no fault of ours, so it is not logged as one.
  if (raw.destroyed && !raw.complete) {
    return new AppError('invalid_request', {
      publicMessage: 'The connection closed before the body was complete',
      cause: error,
    });
  }
  return new AppError('internal', {
    publicMessage: 'Something went wrong on our side. Please try again.',
    cause: error,
  });
}

declare module 'fastify' {
  interface FastifyContextConfig {
    describeError?: DescribeError | undefined;
  }
}
