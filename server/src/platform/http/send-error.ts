import { STATUS_CODES } from 'node:http';
import type { ErrorBody } from '@bakehouse/contract/errors';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { isDatabaseAway } from '../db/errors/database-errors.ts';
import {
  AppError,
  databaseUnavailable,
  internalError,
  invalidRequest,
  payloadTooLarge,
  unsupportedMediaType,
} from '../errors.ts';
import { Answer } from './answer.ts';
import type { DescribeError } from './bind.ts';
import { toInvalidRequest } from './validation/invalid-request.ts';

/** Short, because most outages are. */
const RETRY_AFTER_S = 5;

const REPEAT_MS = 60_000;
/** When each error was last logged, by route and code. */
const loggedAt = new WeakMap<FastifyInstance, Map<string, number>>();

/** Converts all errors to responses. Internal details are logged and never sent. */
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
  const answer = describeError?.(known, request) ?? new Answer(toErrorBody(known, request.id));
  if (answer.status !== undefined) reply.code(answer.status);
  return reply
    .headers(answer.headers)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(answer.body));
}

function about({ id, routeOptions, caller }: FastifyRequest) {
  return {
    request_id: id,
    path: routeOptions.url,
    ...(caller.kind === 'user' && { user_id: caller.userId }),
  };
}

/** Returns true if this was not logged within a minute, because retries would fill the log. */
function isNews(server: FastifyInstance, what: string): boolean {
  const now = performance.now();
  const times = loggedAt.get(server) ?? new Map<string, number>();
  loggedAt.set(server, times);
  if (now - (times.get(what) ?? Number.NEGATIVE_INFINITY) < REPEAT_MS) return false;
  times.set(what, now);
  return true;
}

type Said = Pick<AppError, 'status' | 'publicMessage' | 'param' | 'data'> & { code: string };

/** Returns the common error format. `code` may be another library's, such as the sign-in library's. */
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
    return databaseUnavailable(error);
  }
  const status = error.statusCode ?? 500;
  if (status === 413) return payloadTooLarge('The request is too large', { cause: error });
  if (status === 415) {
    return unsupportedMediaType(error.message, { cause: error });
  }
  if (status >= 400 && status < 500) {
    return invalidRequest(error.message || (STATUS_CODES[status] ?? 'Bad request'), { cause: error });
  }
  // Do not log this as a failure: the client disconnected.
  if (raw.destroyed && !raw.complete) {
    return invalidRequest('The connection closed before the body was complete', { cause: error });
  }
  return internalError('Something went wrong on our side. Please try again.', { cause: error });
}

declare module 'fastify' {
  interface FastifyContextConfig {
    describeError?: DescribeError | undefined;
  }
}
