import type { Readable } from 'node:stream';
import type { Access, Endpoint, InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { FastifyRequest } from 'fastify';
import type { Caller, Context, Services, UserCaller, WorkloadCaller } from '../context.ts';
import type { AppError } from '../errors.ts';
import type { Answer, LiveEvents } from './answer.ts';
import type { CountCall } from './callers/rate-limits.ts';
import type { Client } from './connection.ts';

/** The request of a call and its client. A handler returns its answer; only the server writes it. */
export type Http = { request: FastifyRequest; client: Client };

/** An endpoint and its handler; `app.ts` mounts the bindings of every module. */
export type Binding = {
  endpoint: Endpoint;
  handle: (ctx: Context<Caller>, input: unknown, http: Http) => Promise<unknown>;
} & BindOptions;

export type BindOptions = {
  /** Calls per minute and user, or address on public routes, below the server's own limit. */
  callsPerMinute?: number;
  /** Calls per hour and client network on public routes. */
  callsPerHour?: number;
  /** Also counts the call by its content, once its body is read. */
  countCall?: CountCall;
  /**
   * Calls per minute and user, or address on public routes, counted separately instead of by the server's
   * limit, because many are normal.
   */
  ownCallsPerMinute?: number;
  /** Throws if the user must be rejected before the body is read. */
  beforeBody?: (services: Services, caller: UserCaller) => void;
  describeError?: DescribeError;
};

/** Returns the answer with an error, for APIs with another error format. Keeps the status by default. */
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
 * Without a response schema the answer is bytes, a stream, or the status alone. A stream may carry the JSON of
 * a large response.
 */
type AnswerOf<E> = [ResponseOf<E>] extends [undefined]
  ? Answer | LiveEvents | void
  : ResponseOf<E> | Answer<ResponseOf<E> | Readable>;

/**
 * Binds an endpoint of the contract to its use case. The server checks access, ownership of every user id in
 * the input, and the input itself first. A handler returns the body, an `Answer` with its own status and
 * headers, or nothing, which sends the status alone.
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
  // Sound, because the HTTP layer first parses the input with the endpoint's own schemas and checks the
  // caller's kind against its access.
  return { ...options, endpoint, handle: handler as unknown as Binding['handle'] };
}
