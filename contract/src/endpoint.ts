import type * as z from 'zod';

/**
 * Who may call an endpoint.
 * - `public`: anyone.
 * - `session`: a signed-in browser (cookie): for the account itself, its sessions, export and deletion.
 * - `key`: the owner of the API key in `X-API-KEY` or `Authorization: Bearer`.
 * - `key_or_session`: either; a browser only from the server's own pages.
 * - `operator`: a key whose owner's verified email address is in `BAKEHOUSE_OPERATORS`.
 * - `workload`: a running workload with its own token.
 */
export type Access = 'public' | 'session' | 'key' | 'key_or_session' | 'operator' | 'workload';

/**
 * Scopes of an API key: `everything`, `read` data, call models (`inference`). A call accepts `everything` and
 * the scopes that it lists.
 */
export const keyScopes = ['everything', 'inference', 'read'] as const;
export type KeyScope = (typeof keyScopes)[number];

type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Default maximum of a JSON body. */
export const BODY_BYTES_MAX = 64 * 1024;

/** One API call, defined once: the server binds it, the web app calls it, OpenAPI documents it. */
export type Endpoint<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
> = {
  method: Method;
  /** In Fastify's format: `/api/v1/asset/:id`; a trailing `*` matches the rest of the path. */
  path: string;
  access: Access;
  summary: string;
  /** Completes 'Failed to …' if an answer has no message. Defaults to the words of the endpoint's name. */
  operation?: string;
  /**
   * Scopes besides `everything` that may call it. Defaults to `read` for GET and HEAD, and to none otherwise.
   */
  scopes?: KeyScope[];
  /** Creates or changes API keys, so only the web app's key may call it. */
  managesKeys?: boolean;
  /** Supports `Idempotency-Key`: same key, same answer. */
  spends?: boolean;
  params?: Params;
  query?: Query;
  body?: Body;
  /** Maximum bytes of the JSON body. Defaults to `BODY_BYTES_MAX`. */
  bodyBytesMax?: number;
  /**
   * The body is a file that the handler streams with its own limits: the body itself, or the named part of a
   * form, whose other parts are `fields`. With `orJson` the part is optional and the body may be JSON of this
   * shape, which the handler parses.
   */
  upload?: 'bytes' | { part: string; fields?: z.ZodObject; orJson?: z.ZodObject };
  /** The whole body is buffered, even a file: few are accepted concurrently, others wait or get a 503. */
  isHeldInMemory?: boolean;
  /** The body may be form-encoded (`application/x-www-form-urlencoded`, all values text) or JSON. */
  isForm?: boolean;
  /** Shape of its errors, if different from the default. */
  error?: z.ZodType;
  /** A JSON answer. Absent if the handler writes bytes, a stream or nothing. */
  response?: Response;
  /** Other answers by content type, for OpenAPI; null if no schema describes them. */
  answers?: Record<string, z.ZodType | null>;
  /** HTTP status of success. Defaults to 200. */
  status?: number;
  /** HTTP status of the same answer while the work is unfinished. */
  pendingStatus?: number;
};

/** Preserves the exact schema types of an endpoint's definition. */
export function endpoint<
  Params extends z.ZodType = z.ZodUndefined,
  Query extends z.ZodType = z.ZodUndefined,
  Body extends z.ZodType = z.ZodUndefined,
  Response extends z.ZodType = z.ZodUndefined,
>(definition: Endpoint<Params, Query, Body, Response>): Endpoint<Params, Query, Body, Response> {
  return definition;
}

/** Input of a handler, after parsing. */
export type InputOf<E> =
  E extends Endpoint<infer P, infer Q, infer B>
    ? { params: z.output<P>; query: z.output<Q>; body: z.output<B> }
    : never;

/** Input of a caller, before parsing. */
export type CallOf<E> =
  E extends Endpoint<infer P, infer Q, infer B>
    ? Part<'params', P> & Part<'query', Q> & Part<'body', B>
    : never;

export type ResponseOf<E> =
  E extends Endpoint<z.ZodType, z.ZodType, z.ZodType, infer R> ? z.output<R> : never;

type Part<Name extends string, S extends z.ZodType> = S extends z.ZodUndefined
  ? { [K in Name]?: undefined }
  : undefined extends z.input<S>
    ? { [K in Name]?: z.input<S> }
    : Name extends 'query'
      ? OptionalIfEmptyFits<Name, z.input<S>>
      : { [K in Name]: z.input<S> };

/** Makes an input optional if all its fields are optional. */
type OptionalIfEmptyFits<Name extends string, Input> =
  Partial<Input> extends Input ? { [K in Name]?: Input } : { [K in Name]: Input };
