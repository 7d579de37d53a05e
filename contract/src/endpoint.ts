import type * as z from 'zod';

/**
 * Who may call an endpoint.
 * - `public`: anybody.
 * - `session`: a browser that is signed in (cookie): for the account itself, its sessions, export and deletion.
 * - `key`: the owner of the API key in `X-API-KEY` or `Authorization: Bearer`.
 * - `key_or_session`: either of the two; a browser is let in from the server's own pages alone.
 * - `operator`: such an owner whose verified email address is named in `BAKEHOUSE_OPERATORS`.
 * - `workload`: a running workload with its own token.
 */
export type Access = 'public' | 'session' | 'key' | 'key_or_session' | 'operator' | 'workload';

/**
 * What an API key may do: `everything`; `read` what is there; ask models (`inference`). A call is open to
 * `everything`, and to what it says itself.
 */
export const keyScopes = ['everything', 'inference', 'read'] as const;
export type KeyScope = (typeof keyScopes)[number];

type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** What a JSON body may have where its endpoint does not say otherwise. */
export const BODY_BYTES_MAX = 64 * 1024;

/** One call of the wire, written once: the server binds it, the web app calls it, OpenAPI prints it. */
export type Endpoint<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
> = {
  method: Method;
  /** Fastify's form: `/api/v1/asset/:id`; a trailing `*` takes the rest of the path. */
  path: string;
  access: Access;
  summary: string;
  /** Completes 'Failed to …' on a screen where an answer says nothing; the words of the endpoint's name unless said. */
  operation?: string;
  /** Scopes beside `everything` whose keys may call it; unless said, `read` for GET and HEAD and none for the rest. */
  scopes?: KeyScope[];
  /** Makes or changes API keys: of these, the web app's alone may call it. */
  managesKeys?: boolean;
  /** Takes an `Idempotency-Key`: same key, same answer. */
  spends?: boolean;
  params?: Params;
  query?: Query;
  body?: Body;
  /** Bytes that the JSON body may have; `BODY_BYTES_MAX` unless said. */
  bodyBytesMax?: number;
  /**
   * The body is a file, which the handler takes in as it comes, within limits of its own: the body
   * itself, or the named part of a form, whose other parts are `fields`. With `orJson` that part may be left out, and the
   * body come as JSON of this shape, which the handler parses.
   */
  upload?: 'bytes' | { part: string; fields?: z.ZodObject; orJson?: z.ZodObject };
  /** The server has the whole body in memory, a file as well: few of them come in at once, the others wait or get a 503. */
  isHeldInMemory?: boolean;
  /** The body may come as a browser's form sends it (`application/x-www-form-urlencoded`), all of it text, or as JSON. */
  isForm?: boolean;
  /** The shape of its errors, where it has not that of all others. */
  error?: z.ZodType;
  /** A JSON answer. Absent: the handler writes bytes, a stream or nothing. */
  response?: Response;
  /** What it writes then, by content type, for who reads OpenAPI; null: what no schema describes. */
  answers?: Record<string, z.ZodType | null>;
  /** HTTP status of success, 200 unless said. */
  status?: number;
  /** That of the same answer while what was asked for is not done, where it has one. */
  pendingStatus?: number;
};

/** Keeps the exact schema types of an endpoint's definition. */
export function endpoint<
  Params extends z.ZodType = z.ZodUndefined,
  Query extends z.ZodType = z.ZodUndefined,
  Body extends z.ZodType = z.ZodUndefined,
  Response extends z.ZodType = z.ZodUndefined,
>(definition: Endpoint<Params, Query, Body, Response>): Endpoint<Params, Query, Body, Response> {
  return definition;
}

/** What a handler receives, after parsing. */
export type InputOf<E> =
  E extends Endpoint<infer P, infer Q, infer B>
    ? { params: z.output<P>; query: z.output<Q>; body: z.output<B> }
    : never;

/** What a caller passes, before parsing. */
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

/** A query whose fields are all optional may be left out. */
type OptionalIfEmptyFits<Name extends string, Input> =
  Partial<Input> extends Input ? { [K in Name]?: Input } : { [K in Name]: Input };
