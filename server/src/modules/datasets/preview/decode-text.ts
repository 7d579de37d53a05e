import { isUtf8 } from 'node:buffer';
import { Unreadable } from './table.ts';

/** Bytes that one request may read. */
const READ_BYTES_MAX = 64 * 1024 * 1024;

/** Longer lines are truncated. */
export const LINE_CHARS_MAX = 4 * 1024 * 1024;

/** In UTF-16, every second byte of most texts is NUL. */
const SNIFFED_BYTES = 1024;

/**
 * Magic bytes of other file kinds, checked regardless of the file's name, and advice for the user. Keep in
 * step with `data/table.py` of the runtime.
 */
const OTHER_KINDS: [begin: string, sentence: string][] = [
  ['PK\x03\x04', 'is an Excel workbook or another zip archive. Save its rows as CSV'],
  ['\x1f\x8b', 'is packed with gzip. Unpack it'],
  ['\xff\xfe\0\0', 'is UTF-32 text. Save it as UTF-8'],
  ['\0\0\xfe\xff', 'is UTF-32 text. Save it as UTF-8'],
  ['\xff\xfe', 'is UTF-16 text. Save it as UTF-8'],
  ['\xfe\xff', 'is UTF-16 text. Save it as UTF-8'],
];

/**
 * Decodes UTF-8 text as a stream, without its byte order mark. Throws Unreadable for bytes that are not
 * UTF-8, and after 64 MB.
 */
export async function* decodeText(bytes: AsyncIterable<Buffer>, name: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 1;
  const decode = (chunk?: Buffer): string => {
    try {
      const text = decoder.decode(chunk, { stream: chunk !== undefined });
      line += chunk ? countNewlines(chunk) : 0;
      return text;
    } catch (cause) {
      line += chunk ? findBadLine(chunk) : 0;
      throw notText(name, `is not UTF-8 text: line ${line} is in another encoding. Save it as UTF-8`, cause);
    }
  };
  let readBytes = 0;
  for await (const chunk of bytes) {
    if (readBytes === 0) assertTextFile(chunk, name);
    readBytes += chunk.length;
    if (readBytes > READ_BYTES_MAX) {
      throw new Unreadable('These rows are too deep in the file to be shown here. Download it to see them.', {
        param: 'offset',
      });
    }
    yield decode(chunk);
  }
  yield decode();
}

function assertTextFile(begin: Buffer, name: string): void {
  const other = OTHER_KINDS.find(([magic]) => begin.subarray(0, magic.length).toString('latin1') === magic);
  if (other) throw notText(name, other[1]);
  const first = begin.subarray(0, SNIFFED_BYTES);
  const nuls = first.filter((byte) => byte === 0).length;
  if (nuls > first.length / 8) {
    throw notText(
      name,
      'is not UTF-8 text: it is full of NUL bytes, as binary files and UTF-16 are. Save it as UTF-8',
    );
  }
}

function notText(name: string, sentence: string, cause?: unknown): Unreadable {
  return new Unreadable(`${name} ${sentence} and upload it again.`, { cause });
}

function countNewlines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) count += 1;
  return count;
}

/** Returns the number of decodable lines in a chunk before the first invalid one. */
function findBadLine(chunk: Buffer): number {
  let count = 0;
  // The chunk may start inside a character.
  let start = [...chunk.subarray(0, 3)].findIndex((byte) => (byte & 0xc0) !== 0x80);
  for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
    if (!isUtf8(chunk.subarray(Math.max(0, start), end))) return count;
    count += 1;
    start = end + 1;
  }
  return count;
}

/** Yields the text that was already read for detection, then the rest. */
export async function* resume(seen: string, rest: AsyncIterator<string>): AsyncGenerator<string> {
  yield seen;
  yield* { [Symbol.asyncIterator]: () => rest };
}

export type Line = { line: number; text: string; isCut: boolean };

/** Yields the lines of a text, numbered from 1, without line ends. A trailing newline adds no empty line. */
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

/** True if the text consists of JSON white space only. */
export function isBlank(text: string): boolean {
  return !/[^ \t\r\n]/.test(text);
}
