import type { Multipart } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import { AppError } from '../../errors.ts';
import { untilKeyEnds } from '../callers/until-key-ends.ts';
import { notForm } from './read-body.ts';

/** A body of which nothing comes for so long is given up. */
const STALL_MS = 60_000;

type Parts = AsyncIterableIterator<Multipart>;

type Form = {
  /** The part that the file comes in: what is wrong with the body as a whole is said of it. */
  part: string;
  limits?: { fileSize?: number; files?: number; fields?: number; fieldSize?: number };
  stallMs?: number | undefined;
  /** A body that takes longer in all is given up, too. */
  wholeMs?: number | undefined;
};

/**
 * Hands the parts of a multipart body to `take` as they come, each to be read before the next, and answers what it does.
 * Throws what `take` throws; and AppError 'unsupported_media_type' for a body of another kind, 'invalid_request' where a
 * part cannot be read or the client has left, and 'unauthenticated' where the API key ends before `take`, which its signal says.
 */
export async function receiveForm<Result>(
  ctx: Context,
  request: FastifyRequest,
  form: Form,
  take: (parts: Parts, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  if (!request.isMultipart()) throw notForm(form.part);
  limitTime(request, form);
  const key = untilKeyEnds(ctx);
  try {
    return await take(readParts(request, form, key.signal), key.signal);
  } catch (error) {
    // The rest of the body has to be read, or the connection would hang.
    request.raw.unpipe();
    request.raw.resume();
    // What broke off because the key ended says so.
    key.signal.throwIfAborted();
    throw error;
  } finally {
    key.stop();
  }
}

/** Both ends are those of the connection: nobody is there to be answered. They hold for the rest of a refused body, too. */
function limitTime({ raw }: FastifyRequest, { stallMs = STALL_MS, wholeMs }: Form): void {
  const giveUp = () => raw.destroy();
  raw.setTimeout(stallMs, giveUp);
  const late = wholeMs === undefined ? undefined : setTimeout(giveUp, wholeMs).unref();
  const lift = () => {
    raw.setTimeout(0);
    clearTimeout(late);
  };
  raw.once('end', lift);
  raw.once('close', lift);
}

/** Each as it comes. With the signal they end, also in the middle of a file. */
async function* readParts(
  request: FastifyRequest,
  { part, limits }: Form,
  signal: AbortSignal,
): AsyncGenerator<Multipart> {
  let endFile = () => {};
  const aborted = new Promise<never>((_, fail) => {
    const end = () => {
      endFile();
      fail(signal.reason as Error);
    };
    signal.addEventListener('abort', end, { once: true });
  });
  // Where nobody asks for a part at that moment.
  aborted.catch(() => undefined);
  // Its parts would be waited for without end: that it closed is not said again.
  if (request.raw.destroyed) throw stopped(part);
  const parts = request.parts({ limits });
  for (;;) {
    signal.throwIfAborted();
    const next = await Promise.race([readPart(parts, part), aborted]);
    if (next.done) return;
    const { value } = next;
    if (value.type === 'file') endFile = () => void value.file.destroy(signal.reason as Error);
    yield value;
  }
}

async function readPart(parts: Parts, param: string): Promise<IteratorResult<Multipart>> {
  try {
    return await parts.next();
  } catch (cause) {
    throw new AppError('invalid_request', {
      publicMessage: 'The multipart body cannot be read',
      param,
      cause,
    });
  }
}

function stopped(param: string): AppError {
  return new AppError('invalid_request', {
    publicMessage: 'The upload stopped before its body was read',
    param,
  });
}
