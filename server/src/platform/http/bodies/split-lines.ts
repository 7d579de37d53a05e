import { setImmediate as turn } from 'node:timers/promises';
import { invalidParam } from '../../errors.ts';
import { hasMoreTokens } from './parse-fields.ts';

const NEWLINE = 0x0a;
/** Yield to the event loop after this much work. */
const TURN_MS = 10;
/** Shorter lines cannot have enough values to be slow to parse. */
const SHORT_CHARS = 64 * 1024;
/** `JSON.parse` needs less than 20 ms for this many values. */
const VALUES_MAX = 100_000;

export type Line = { number: number; text: string };

type Limits = {
  lineBytesMax: number;
  /** Includes empty lines. */
  linesMax: number;
  refuseLine: (number: number) => Error;
  refuseCount: () => Error;
};

/**
 * Splits a body into lines, and skips empty ones. Only one line is in memory at a time. Yields to the event
 * loop regularly, even within a chunk of many short lines. Throws the errors of `limits`.
 */
export async function* splitLines(bytes: AsyncIterable<Buffer>, limits: Limits): AsyncGenerator<Line> {
  let pieces: Buffer[] = [];
  let length = 0;
  let number = 1;
  let turnedAt = performance.now();
  for await (const chunk of bytes) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      const piece = chunk.subarray(from, end);
      if (length + piece.length > limits.lineBytesMax) throw limits.refuseLine(number);
      if (length + piece.length > 0) {
        const text = Buffer.concat([...pieces, piece])
          .toString()
          .trim();
        if (text !== '') yield { number, text };
      }
      pieces = [];
      length = 0;
      number += 1;
      if (number > limits.linesMax) throw limits.refuseCount();
      from = end + 1;
      if (performance.now() - turnedAt > TURN_MS) {
        await turn();
        turnedAt = performance.now();
      }
    }
    pieces.push(chunk.subarray(from));
    length += chunk.length - from;
    if (length > limits.lineBytesMax) throw limits.refuseLine(number);
  }
  const text = Buffer.concat(pieces).toString().trim();
  if (text !== '') yield { number, text };
}

/**
 * Parses a line of JSON. Throws SyntaxError. Throws AppError 'invalid_request' with `param` if the line has
 * so many values that parsing would block the event loop.
 */
export function parseLine({ text, number }: Line, param: string): unknown {
  if (text.length > SHORT_CHARS && hasMoreTokens(text, VALUES_MAX))
    throw invalidParam(param, `Line ${number} has more than ${VALUES_MAX} values`);
  return JSON.parse(text);
}
