import { addAbortSignal, finished, PassThrough, type Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import { AppError, invalidParam, invalidRequest, unsupportedMediaType } from '../../errors.ts';
import { watchKey } from '../callers/key-ends.ts';
import { limitTime } from './body-limits.ts';
import { hasMoreTokens } from './parse-fields.ts';

const FORM = 'application/x-www-form-urlencoded';

/** Content type of Git LFS. */
const LFS = 'application/vnd.git-lfs+json';

/** The types that `curl -d` and `fetch` send if the caller sets none. */
const DEFAULT_TYPES = [FORM, 'text/plain'];

/** More than the longest conversation has. Describing all invalid fields of more would block the server. */
const TOKENS_MAX = 50_000;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The form part that contains the file. */
    formPart?: string | undefined;
    /** True if the body is a form without a file. */
    isForm?: boolean | undefined;
  }
}

/** Half a megabit a second. */
const BYTES_PER_MS = 64;

/** Time for a small body. */
const SHORT_MS = 60_000;

/**
 * Parses bodies as JSON, or as the form that an endpoint accepts. An empty body is undefined. With an API
 * key, the content type may be missing or wrong. Without a key, it must be JSON: a page of another site can
 * send the browser's cookie, but not this type. Handlers stream files themselves. Throws AppError
 * 'unsupported_media_type' and 'invalid_request'.
 */
export function readBodies(app: FastifyInstance): void {
  const parseText = app.getDefaultJsonParser('error', 'error');
  const parse = (
    request: FastifyRequest,
    text: string,
    done: (error: Error | null, body?: unknown) => void,
  ) => {
    // Reports of workloads quote output, so they may be larger. Their endpoints limit the number of reports.
    const isCounted = request.caller.kind !== 'workload';
    if (isCounted && hasMoreTokens(text, TOKENS_MAX)) return done(manyFields());
    if (text.trim() === '') return done(null, undefined);
    return parseText(request, text, (error, body) => done(error && (forbiddenName(text) ?? error), body));
  };

  app.removeContentTypeParser(['application/json', 'text/plain']);
  app.addContentTypeParser(['application/json', LFS], { parseAs: 'string' }, parse);
  app.addContentTypeParser([...DEFAULT_TYPES, '*'], { parseAs: 'string' }, (request, text: string, done) => {
    if (text === '') return done(null, undefined);
    const { formPart, isForm } = request.routeOptions.config;
    if (formPart) return done(notForm(formPart));
    const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
    if (isForm && type === FORM) {
      if (text.split('&', TOKENS_MAX + 1).length > TOKENS_MAX) return done(manyFields());
      return done(null, fieldsOf(new URLSearchParams(text)));
    }
    if (!carriesKey(request) || (type !== undefined && !DEFAULT_TYPES.includes(type))) return done(notJson());
    void parse(request, text, (error, body) =>
      done(error instanceof AppError ? error : error && notJson(), body),
    );
  });
  app.addContentTypeParser('application/octet-stream', (_request, _payload, done) => done(null));
}

/** Converts a form to an object. A repeated field becomes a list. */
function fieldsOf(form: URLSearchParams): Record<string, string | string[]> {
  const names = new Set(form.keys());
  return Object.fromEntries(
    [...names].map((name) => {
      const values = form.getAll(name);
      return [name, values.length === 1 ? (values[0] ?? '') : values];
    }),
  );
}

/** Returns the error for JSON with a field that could change the prototype of objects; null for other text. */
function forbiddenName(text: string): AppError | null {
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  const name = text.includes('__proto__') ? '__proto__' : 'constructor.prototype';
  return invalidParam(name, `${name} cannot be the name of a field. Remove it`);
}

function manyFields(): AppError {
  return invalidRequest('The body has too many fields. Send only those that this call takes');
}

function carriesKey({ headers }: FastifyRequest): boolean {
  return headers['x-api-key'] !== undefined || headers.authorization !== undefined;
}

/** Returns the error for a file that was not sent as a form. */
export function notForm(part: string): AppError {
  return unsupportedMediaType(`Send the file as multipart/form-data, in a part named ${part}`, {
    param: 'Content-Type',
  });
}

function notJson(): AppError {
  return unsupportedMediaType('Send the body as JSON, with the header Content-Type: application/json', {
    param: 'Content-Type',
  });
}

/**
 * Passes the body of a request, which is a file, to `take` as a stream. Returns the result of `take`, and
 * throws its errors. Throws AppError 'unauthenticated' if the API key ends during the upload. Closes the
 * connection if the body pauses, or is slower than half a megabit a second.
 */
export async function receiveBytes<Result>(
  ctx: Context,
  request: FastifyRequest,
  take: (bytes: Readable) => Promise<Result>,
): Promise<Result> {
  const announced = Number(request.headers['content-length'] ?? 0);
  limitTime(request, { wholeMs: SHORT_MS + announced / BYTES_PER_MS });
  const key = watchKey(ctx);
  // Abort this stream instead of the request, so that the client still gets a response.
  const bytes = addAbortSignal(key.signal, new PassThrough());
  finished(request.raw, (error) => void (error && bytes.destroy(error)));
  request.raw.pipe(bytes);
  try {
    return await take(bytes);
  } catch (error) {
    key.signal.throwIfAborted();
    throw error;
  } finally {
    key.stop();
    // Discard the rest of the body, which would block the connection.
    request.raw.unpipe(bytes);
    request.raw.resume();
  }
}
