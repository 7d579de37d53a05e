import type { Readable } from 'node:stream';

/** Longer than any line that our programs and the Kubernetes API send. */
const LINE_CHARS_MAX = 16 * 1024 * 1024;

/**
 * Yields the lines of a text stream. Only "
 * " and "\r
 * " end a line: `node:readline` also splits at U+2028 and U+2029, which JSON contains unescaped. Throws an
 * Error if a line is too long, and destroys the stream if the caller stops early.
 */
export async function* readLines(stream: Readable, charsMax = LINE_CHARS_MAX): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of stream.setEncoding('utf8')) {
    const [first = '', ...others] = String(chunk).split('\n');
    rest += first;
    for (const next of others) {
      yield withoutReturn(rest);
      rest = next;
    }
    if (rest.length > charsMax) throw new Error(`line has more than ${charsMax} characters`);
  }
  if (rest !== '') yield withoutReturn(rest);
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}
