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
  /** The part that contains the file; errors about the whole body name it. */
  part: string;
  limits?: { fileSize?: number; files?: number; fields?: number; fieldSize?: number };
  stallMs?: number | undefined;
  /** The connection of a body that takes longer in total is closed. */
  wholeMs?: number | undefined;
};

/**
 * Streams the parts of a multipart body to `take`, each to be read before the next, and returns its result.
 * Throws its errors; AppError 'unsupported_media_type' for other content types, 'invalid_request' if a part
 * cannot be read or the client has disconnected, and 'unauthenticated' if the API key ends in the meantime.
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
    // An unread rest of the body would block the connection.
    request.raw.unpipe();
    request.raw.resume();
    // If the key has ended, that is the cause.
    key.signal.throwIfAborted();
    throw error;
  } finally {
    key.stop();
  }
}

/** Yields parts until the signal aborts, which also ends a file that is being read. */
async function* readParts(
  request: FastifyRequest,
  { part, limits }: Form,
  signal: AbortSignal,
): AsyncGenerator<Multipart> {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  // It may abort while no part is awaited.
  aborted.catch(() => undefined);
  // The parser would wait forever for parts of a connection that has closed already.
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
