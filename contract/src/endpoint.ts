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
  /** What follows 'Failed to' if an answer has no message. Defaults to the words of the endpoint's name. */
  operation?: string;
  /**
   * Scopes that may call it, besides `everything`. Defaults to `read` for GET and HEAD, otherwise to none.
   */
  scopes?: KeyScope[];
  /** Creates or changes API keys, so only the web app's key may call it. */
  managesKeys?: boolean;
  /** Supports `Idempotency-Key`: a repeated call with the same key returns the same answer. */
  spends?: boolean;
  params?: Params;
  query?: Query;
  body?: Body;
  /** Maximum bytes of the JSON body. Defaults to `BODY_BYTES_MAX`. */
  bodyBytesMax?: number;
  /**
   * The handler streams a file with its own limits. The file is the whole body, or one part of a form, whose
   * other parts are `fields`; `optionalPart` is a second file. With `orJson`, the file is optional: the handler
   * then also parses JSON of that shape.
   */
  upload?: 'bytes' | { part: string; optionalPart?: string; fields?: z.ZodObject; orJson?: z.ZodObject };
  /** The whole body is buffered in memory, even a file. Few such calls run at a time; others get a 503. */
  isHeldInMemory?: boolean;
  /** The body may be JSON, or form-encoded with text as values (`application/x-www-form-urlencoded`). */
  isForm?: boolean;
  /** Schema of its errors, if they do not have the default one. */
  error?: z.ZodType;
  /** Schema of a JSON answer. Absent if the handler returns bytes, a stream or nothing. */
  response?: Response;
  /** Schemas of other answers by content type, for OpenAPI. Null if no schema can describe the answer. */
  answers?: Record<string, z.ZodType | null>;
  /** HTTP status of success. Defaults to 200. */
  status?: number;
  /** HTTP status of the same answer if the work is not complete yet. */
  pendingStatus?: number;
};

/** Returns the definition with the exact types of its schemas. */
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
