import { formatBytes } from '@bakehouse/contract/labels';
import { invalidParam } from '../../../platform/errors.ts';
import { type Line, parseLine, splitLines } from '../../../platform/http/bodies/split-lines.ts';

/** Maximum bytes of a line, which is a conversation for training or a request of a batch. */
export const LINE_BYTES_MAX = 4 * 1024 * 1024;
/** Maximum lines of a file. Even a file of the maximum size has fewer useful lines. */
export const LINES_MAX = 5_000_000;

export type JsonLine = { number: number; value: Record<string, unknown> };

/**
 * Yields the objects of a JSON Lines stream. Skips empty lines, and has only one line in memory at a time.
 * Throws AppError 'invalid_request' with the field `param` and the number of the first line that is not an
 * object.
 */
export async function* readJsonLines(bytes: AsyncIterable<Buffer>, param: string): AsyncGenerator<JsonLine> {
  const limits = {
    lineBytesMax: LINE_BYTES_MAX,
    linesMax: LINES_MAX,
    refuseLine: (number: number) =>
      invalidParam(param, `Line ${number} has more than ${formatBytes(LINE_BYTES_MAX)}`),
    refuseCount: () => invalidParam(param, `A file has at most ${LINES_MAX} lines`),
  };
  for await (const line of splitLines(bytes, limits))
    yield { number: line.number, value: parseObject(line, param) };
}

function parseObject(line: Line, param: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = parseLine(line, param);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw invalidParam(
      param,
      `Line ${line.number} is not valid JSON. Send JSON Lines: one object per line`,
      error,
    );
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw invalidParam(param, `Line ${line.number} is not a JSON object. Send JSON Lines: one object per line`);
}
