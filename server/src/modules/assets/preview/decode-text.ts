import { Unreadable } from './unreadable.ts';

/** What one look at a file may read. */
const READ_BYTES_MAX = 64 * 1024 * 1024;

/** A line longer than this is cut. */
export const LINE_CHARS_MAX = 4 * 1024 * 1024;

/**
 * UTF-8 text as it comes, without a byte order mark. Throws Unreadable where the bytes are not
 * UTF-8, and when one look has read 64 MB.
 */
export async function* decodeText(bytes: AsyncIterable<Buffer>, name: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (chunk?: Buffer): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch (cause) {
      throw new Unreadable(`${name} is not UTF-8 text. Save it as UTF-8 and upload it again.`, { cause });
    }
  };
  let readBytes = 0;
  for await (const chunk of bytes) {
    readBytes += chunk.length;
    if (readBytes > READ_BYTES_MAX) {
      throw new Unreadable(
        'These rows are too deep in the file to be looked at here. Download it to see them.',
        { param: 'offset' },
      );
    }
    yield decode(chunk);
  }
  yield decode();
}

/** Text that was read to find out what it is, and what follows it. */
export async function* resume(seen: string, rest: AsyncIterator<string>): AsyncGenerator<string> {
  yield seen;
  yield* { [Symbol.asyncIterator]: () => rest };
}

export type Line = { line: number; text: string; isCut: boolean };

/** The lines of a text, numbered from 1, without their ends. An end of line at the end makes no further line. */
export async function* splitLines(chunks: AsyncIterable<string>): AsyncGenerator<Line> {
  let line = 1;
  let text = '';
  let isCut = false;
  const add = (piece: string): void => {
    isCut ||= text.length + piece.length > LINE_CHARS_MAX;
    if (text.length < LINE_CHARS_MAX) text += piece.slice(0, LINE_CHARS_MAX - text.length);
  };
  const take = (): Line => {
    const taken = { line, text: text.endsWith('\r') ? text.slice(0, -1) : text, isCut };
    line += 1;
    text = '';
    isCut = false;
    return taken;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', start)) {
      add(chunk.slice(start, end));
      yield take();
      start = end + 1;
    }
    add(chunk.slice(start));
  }
  if (text !== '') yield take();
}

/** Whether text is nothing but what JSON calls white space. */
export function isBlank(text: string): boolean {
  return !/[^ \t\r\n]/.test(text);
}
