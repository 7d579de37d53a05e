import type { IncomingMessage } from 'node:http';
import { type ImageEvent, imageEvent } from '@bakehouse/contract/runtime/serve-image-spec';
import { modelUnavailable } from '../../../platform/errors.ts';

/** Maximum length of a line; a line with a preview has about a fifth of it. */
const LINE_BYTES_MAX = 1024 * 1024;

export const INTERRUPTED = 'The model server stopped before it was finished';

/** The event that announces a finished output. */
type Done = Extract<ImageEvent, { type: 'done' }>;
type Beside = Done['beside'][number];
/**
 * An event of the response. The last one has the files, which must be read once, in order, before the next
 * event is requested.
 */
export type AnswerEvent =
  | Exclude<ImageEvent, Done>
  | (Omit<Done, 'beside'> & {
      bytes: AsyncGenerator<Buffer>;
      beside: (Beside & { bytes: AsyncGenerator<Buffer> })[];
    });

/**
 * Yields the events of an image model server's response up to `done`; `onPiece` is called for every chunk.
 * Throws AppError 'unavailable', also from the file streams, if the response breaks off or is malformed.
 */
export async function* readImageEvents(
  answer: IncomingMessage,
  onPiece: () => void,
): AsyncGenerator<AnswerEvent, void> {
  const pieces = piecesOf(answer, onPiece);
  let rest: Buffer = Buffer.alloc(0);
  try {
    for (;;) {
      const end = rest.indexOf('\n');
      if (end >= 0) {
        const event = toEvent(rest.toString('utf8', 0, end));
        rest = rest.subarray(end + 1);
        if (event.type !== 'done') {
          yield event;
          continue;
        }
        const files = { rest, pieces };
        const isLast = event.beside.length === 0;
        yield {
          ...event,
          bytes: fileOf(files, event.size_bytes, isLast),
          beside: event.beside.map((one, at) => ({
            ...one,
            bytes: fileOf(files, one.size_bytes, at === event.beside.length - 1),
          })),
        };
        return;
      }
      if (rest.length > LINE_BYTES_MAX) throw broken('a line without an end');
      const next = await pieces.next();
      if (next.done) throw broken('an answer without an end');
      rest = Buffer.concat([rest, next.value]);
    }
  } finally {
    // Stopping early ends the response.
    await pieces.return();
  }
}

async function* piecesOf(answer: IncomingMessage, onPiece: () => void): AsyncGenerator<Buffer, void> {
  try {
    for await (const piece of answer) {
      onPiece();
      yield piece as Buffer;
    }
  } catch (error) {
    throw modelUnavailable(INTERRUPTED, error);
  }
}

/**
 * Yields the next `size` bytes after the line. More bytes in `rest` belong to the next file; the last file
 * must leave none.
 */
async function* fileOf(
  files: { rest: Buffer; pieces: AsyncGenerator<Buffer, void> },
  size: number,
  isLast: boolean,
): AsyncGenerator<Buffer> {
  for (let left = size; left > 0; ) {
    if (files.rest.length === 0) {
      const next = await files.pieces.next();
      if (next.done) throw broken('a part of a file');
      files.rest = next.value;
    }
    const part = files.rest.subarray(0, left);
    files.rest = files.rest.subarray(part.length);
    left -= part.length;
    yield part;
  }
  if (!isLast) return;
  const isOver = files.rest.length === 0 && (await files.pieces.next()).done;
  if (!isOver) throw broken('more than the file');
}

function toEvent(line: string): ImageEvent {
  try {
    return imageEvent.parse(JSON.parse(line));
  } catch (cause) {
    throw modelUnavailable(INTERRUPTED, new Error('the model server sent an invalid event', { cause }));
  }
}

function broken(what: string): Error {
  return modelUnavailable(INTERRUPTED, new Error(`the model server sent ${what}`));
}
