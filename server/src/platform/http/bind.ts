import type { Readable } from 'node:stream';
import type { Access, Endpoint, InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { FastifyRequest } from 'fastify';
import type { Caller, Context, Services, UserCaller, WorkloadCaller } from '../context.ts';
import type { AppError } from '../errors.ts';
import type { Answer, LiveEvents } from './answer.ts';
import type { CountCall } from './callers/rate-limits.ts';
import type { Client } from './connection.ts';

/** The request of a call, and its client. A handler returns its answer; only the server writes responses. */
export type Http = { request: FastifyRequest; client: Client };

/** An endpoint and its handler; `app.ts` mounts the bindings of every module. */
export type Binding = {
  endpoint: Endpoint;
  handle: (ctx: Context<Caller>, input: unknown, http: Http) => Promise<unknown>;
} & BindOptions;

export type BindOptions = {
  /** Additional limit per minute and user (per address on public routes), below the server's own. */
  callsPerMinute?: number;
  /** Limit per hour and client network on public routes. */
  callsPerHour?: number;
  /** Counts the call again by its content, once the body has been read. */
  countCall?: CountCall;
  /**
   * Limit per user (or per address on public routes) and minute, which replaces the server's own limit. For
   * routes that clients normally call often.
   */
  ownCallsPerMinute?: number;
  /**
   * Throws if the user must be rejected. Called before the body is read, with its maximum size. May return a
   * function to call when the response has ended.
   */
  beforeBody?: (services: Services, caller: UserCaller, bytes: number) => (() => void) | void;
  describeError?: DescribeError;
};

/**
 * Returns the response for an error, for APIs with their own error format. Without a status of its own, it
 * has the error's status.
 */
export type DescribeError = (error: AppError, request: FastifyRequest) => Answer;

type CallerOf<A extends Access> = A extends 'public'
  ? Caller
  : A extends 'workload'
    ? WorkloadCaller
    : UserCaller;

type Handler<E extends Endpoint, C extends Caller> = (
  ctx: Context<C>,
  input: InputOf<E>,
  http: Http,
) => Promise<AnswerOf<E>>;

/**
 * Without a response schema, the answer is bytes, a stream, or only the status. A stream may also contain
 * JSON that is too large for memory.
 */
type AnswerOf<E> = [ResponseOf<E>] extends [undefined]
  ? Answer | LiveEvents | void
  : ResponseOf<E> | Answer<ResponseOf<E> | Readable>;

/**
 * Binds an endpoint of the contract to its use case. The server first checks access, then that every user id
 * in the input is the caller's, then the input itself. A handler returns the body, or an `Answer` with its
 * own status and headers. If it returns nothing, only the status is sent.
 */
export function bind<E extends Endpoint>(
  endpoint: E,
  handler: Handler<E, UserCaller>,
  options?: BindOptions,
): Binding {
  return toBinding(endpoint, handler, ['session', 'key', 'key_or_session', 'operator'], options);
}

/** Like `bind`, for public endpoints. */
export function bindPublic<E extends Endpoint>(
  endpoint: E,
  handler: Handler<E, CallerOf<'public'>>,
  options?: BindOptions,
): Binding {
  return toBinding(endpoint, handler, ['public'], options);
}

/** Like `bind`, for endpoints of running workloads. */
export function bindWorkload<E extends Endpoint>(
  endpoint: E,
  handler: Handler<E, CallerOf<'workload'>>,
  options?: BindOptions,
): Binding {
  return toBinding(endpoint, handler, ['workload'], options);
}

function toBinding<E extends Endpoint, C extends Caller>(
  endpoint: E,
  handler: Handler<E, C>,
  allowed: Access[],
  options?: BindOptions,
): Binding {
  if (!allowed.includes(endpoint.access)) {
    throw new Error(
      `${endpoint.method} ${endpoint.path} has access '${endpoint.access}': use the binder for it`,
    );
  }
  // Safe, because the HTTP layer has parsed the input with the endpoint's schemas and checked the caller's
  // kind.
  return { ...options, endpoint, handle: handler as unknown as Binding['handle'] };
}
