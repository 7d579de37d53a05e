import { addAbortSignal } from 'node:stream';
import type { Multipart } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import { type AppError, invalidParam } from '../../errors.ts';
import { watchKey } from '../callers/key-ends.ts';
import { limitTime } from './body-limits.ts';
import { notForm } from './read-body.ts';

type Parts = AsyncIterableIterator<Multipart>;

type Form = {
  /** Name of the file's part, which errors about the whole body mention. */
  part: string;
  limits?: { fileSize?: number; files?: number; fields?: number; fieldSize?: number };
  stallMs?: number | undefined;
  /** If the body takes longer than this in total, its connection is closed. */
  wholeMs?: number | undefined;
};

/**
 * Passes the parts of a multipart body to `take`, which must read each part before the next one. Returns the
 * result of `take`, and throws its errors. Throws AppError 'unsupported_media_type' for other content types,
 * 'invalid_request' if a part cannot be read or the client has disconnected, and 'unauthenticated' if the API
 * key ends during the upload.
 */
export async function receiveForm<Result>(
  ctx: Context,
  request: FastifyRequest,
  form: Form,
  take: (parts: Parts, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  if (!request.isMultipart()) throw notForm(form.part);
  limitTime(request, form);
  const key = watchKey(ctx);
  try {
    return await take(readParts(request, form, key.signal), key.signal);
  } catch (error) {
    // Discard the rest of the body, which would block the connection.
    request.raw.unpipe();
    request.raw.resume();
    // If the API key has ended, the error is a consequence of that.
    key.signal.throwIfAborted();
    throw error;
  } finally {
    key.stop();
  }
}

/** Yields parts until the signal aborts. The abort also ends the stream of a file that is being read. */
async function* readParts(
  request: FastifyRequest,
  { part, limits }: Form,
  signal: AbortSignal,
): AsyncGenerator<Multipart> {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  // Prevents an unhandled rejection if the signal aborts between two parts.
  aborted.catch(() => undefined);
  // If the connection is already closed, the parser would wait forever for parts.
  if (request.raw.destroyed) throw stopped(part);
  const parts = request.parts({ limits });
  for (;;) {
    const next = await Promise.race([readPart(parts, part), aborted]);
    if (next.done) return;
    if (next.value.type === 'file') addAbortSignal(signal, next.value.file);
    yield next.value;
  }
}

async function readPart(parts: Parts, param: string): Promise<IteratorResult<Multipart>> {
  try {
    return await parts.next();
  } catch (cause) {
    throw invalidParam(param, 'The multipart body cannot be read', cause);
  }
}

function stopped(param: string): AppError {
  return invalidParam(param, 'The upload stopped before its body was read');
}
