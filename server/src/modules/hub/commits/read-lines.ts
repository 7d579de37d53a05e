import { refused } from '../../../platform/errors.ts';

const NEWLINE = 0x0a;

/** The lines of a body as they come, one of them in memory at a time. Throws AppError('invalid_request') for one that is too long. */
export async function* readLines(bytes: AsyncIterable<Buffer>, lineBytesMax: number): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      parts.push(chunk.subarray(from, end));
      yield Buffer.concat(parts).toString();
      parts = [];
      length = 0;
      from = end + 1;
    }
    parts.push(chunk.subarray(from));
    length += chunk.length - from;
    if (length > lineBytesMax) {
      throw refused(
        'content',
        'A file is too large to stand in a commit. Send it on its own before, as Git LFS does',
      );
    }
  }
  if (length > 0) yield Buffer.concat(parts).toString();
}
