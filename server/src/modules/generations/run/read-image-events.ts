import type { IncomingMessage } from 'node:http';
import { type ImageEvent, imageEvent } from '@bakehouse/contract/runtime/serve-image-spec';
import { unavailable } from '../../serving/ask/unavailable.ts';

/** A preview takes a fifth of it. */
const LINE_BYTES_MAX = 1024 * 1024;

export const brokeOff = 'The model server stopped before the picture was finished';

/** What a model server says of a finished output. */
export type Done = Extract<ImageEvent, { type: 'done' }>;
/** An event; the last one has the file, which is read once, before the next event is asked for. */
export type AnswerEvent = Exclude<ImageEvent, Done> | (Done & { bytes: AsyncGenerator<Buffer> });

/**
 * The events of an image model server's answer, as far as `done`; `onPiece` hears of all that comes. Throws AppError
 * 'unavailable', also out of the file, where the answer breaks off or is not what it should be.
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
        yield { ...event, bytes: fileOf(rest, pieces, event.size_bytes) };
        return;
      }
      if (rest.length > LINE_BYTES_MAX) throw broken('a line without an end');
      const next = await pieces.next();
      if (next.done) throw broken('an answer without an end');
      rest = Buffer.concat([rest, next.value]);
    }
  } finally {
    // Whoever reads no further ends the answer.
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
    throw unavailable(brokeOff, error);
  }
}

/** The `size` bytes that come after the line. */
async function* fileOf(
  first: Buffer,
  pieces: AsyncGenerator<Buffer, void>,
  size: number,
): AsyncGenerator<Buffer> {
  let left = size - first.length;
  if (first.length > 0) yield first;
  for await (const piece of pieces) {
    left -= piece.length;
    yield piece;
    if (left < 0) break;
  }
  if (left !== 0) throw broken(left > 0 ? 'a part of a file' : 'more than the file');
}

function toEvent(line: string): ImageEvent {
  try {
    return imageEvent.parse(JSON.parse(line));
  } catch (cause) {
    throw unavailable(brokeOff, new Error('the model server sent what is no event', { cause }));
  }
}

function broken(what: string): Error {
  return unavailable(brokeOff, new Error(`the model server sent ${what}`));
}
