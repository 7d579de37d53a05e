import { formatBytes } from '@bakehouse/contract/labels';
import { refused } from '../../../platform/errors.ts';

/** Of one line: a conversation to train on, or a request of a batch. */
export const LINE_BYTES_MAX = 4 * 1024 * 1024;

export type JsonLine = { number: number; value: Record<string, unknown> };

const NEWLINE = 0x0a;

/**
 * The objects of a JSON Lines file as its bytes come, one line in memory at a time; empty lines are passed over. Throws
 * AppError 'invalid_request' that names the first line which is no object, by the field `param`.
 */
export async function* readJsonLines(bytes: AsyncIterable<Buffer>, param: string): AsyncGenerator<JsonLine> {
  let number = 0;
  for await (const line of splitLines(bytes, (at) => {
    throw refused(param, `Line ${at} has more than ${formatBytes(LINE_BYTES_MAX)}`);
  })) {
    number += 1;
    const text = (number === 1 ? line.replace(/^\uFEFF/, '') : line).trim();
    if (text !== '') yield { number, value: parseObject(text, number, param) };
  }
}

async function* splitLines(
  bytes: AsyncIterable<Buffer>,
  refuseLength: (line: number) => never,
): AsyncGenerator<string> {
  let pieces: Buffer[] = [];
  let length = 0;
  let number = 1;
  const add = (piece: Buffer) => {
    pieces.push(piece);
    length += piece.length;
    if (length > LINE_BYTES_MAX) refuseLength(number);
  };
  for await (const chunk of bytes) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      add(chunk.subarray(from, end));
      yield Buffer.concat(pieces, length).toString('utf8');
      pieces = [];
      length = 0;
      number += 1;
      from = end + 1;
    }
    add(chunk.subarray(from));
  }
  if (length > 0) yield Buffer.concat(pieces, length).toString('utf8');
}

function parseObject(text: string, line: number, param: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw refused(param, `Line ${line} is not valid JSON. Send JSON Lines: one object per line`, error);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw refused(param, `Line ${line} is not a JSON object. Send JSON Lines: one object per line`);
}
