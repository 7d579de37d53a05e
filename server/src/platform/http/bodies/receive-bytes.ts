import { addAbortSignal, finished, PassThrough, type Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import { untilKeyEnds } from '../callers/until-key-ends.ts';
import { limitTime } from './limit-time.ts';

/** Half a megabit a second. */
const BYTES_PER_MS = 64;
/** Time for a body of negligible size. */
const SHORT_MS = 60_000;

/**
 * Streams the body of a request, which is a file, to `take`, and returns its result. Throws its errors, and
 * AppError 'unauthenticated' if the API key ends in the meantime. Closes the connection of a body that
 * pauses, or is slower than half a megabit a second.
 */
export async function receiveBytes<Result>(
  ctx: Context,
  request: FastifyRequest,
  take: (bytes: Readable) => Promise<Result>,
): Promise<Result> {
  const announced = Number(request.headers['content-length'] ?? 0);
  limitTime(request, { wholeMs: SHORT_MS + announced / BYTES_PER_MS });
  const key = untilKeyEnds(ctx);
  // Aborting this stream leaves the request open, so that it gets a response.
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
