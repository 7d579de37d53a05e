import type { IncomingMessage } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { type ImageEvent, imageEvent } from '@bakehouse/contract/runtime/serve-image-spec';

/** A picture of 20 MB in base64, with room for the rest. */
const LINE_LENGTH_MAX = 28 * 1024 * 1024;

/** The lines of an image model server's answer. Throws where one is no event, or has no end. */
export async function* readImageEvents(answer: IncomingMessage): AsyncGenerator<ImageEvent> {
  const decoder = new StringDecoder('utf8');
  let pieces: string[] = [];
  let length = 0;
  for await (const piece of answer) {
    const [first = '', ...further] = decoder.write(piece as Buffer).split('\n');
    pieces.push(first);
    length += first.length;
    for (const next of further) {
      yield toEvent(pieces.join(''));
      pieces = [next];
      length = next.length;
    }
    if (length > LINE_LENGTH_MAX) throw new Error('the model server sent a line without an end');
  }
  if (length > 0) throw new Error('the model server closed in the middle of a line');
}

function toEvent(line: string): ImageEvent {
  const parsed = imageEvent.safeParse(JSON.parse(line));
  if (!parsed.success) throw new Error('the model server sent what is no event', { cause: parsed.error });
  return parsed.data;
}
