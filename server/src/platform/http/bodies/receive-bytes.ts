import { addAbortSignal, finished, PassThrough, type Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import { untilKeyEnds } from '../callers/until-key-ends.ts';
import { limitTime } from './limit-time.ts';

/** Half a megabit a second. */
const BYTES_PER_MS = 64;
/** What a body of no size to speak of may take. */
const SHORT_MS = 60_000;

/**
 * Hands the body of a request, which is a file, to `take` as it comes, and answers what it does. Throws what `take` throws,
 * and AppError 'unauthenticated' where the API key ends meanwhile. A body that pauses, or takes longer than on a line of
 * half a megabit a second, has its connection closed.
 */
export async function receiveBytes<Result>(
  ctx: Context,
  request: FastifyRequest,
  take: (bytes: Readable) => Promise<Result>,
): Promise<Result> {
  const announced = Number(request.headers['content-length'] ?? 0);
  limitTime(request, { wholeMs: SHORT_MS + announced / BYTES_PER_MS });
  const key = untilKeyEnds(ctx);
  // Where this is broken off the request stays, and is answered.
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
    // An unread rest of the body would block the connection.
    request.raw.unpipe(bytes);
    request.raw.resume();
  }
}
