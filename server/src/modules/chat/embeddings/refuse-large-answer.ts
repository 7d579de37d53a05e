import { refused } from '../../../platform/errors.ts';

/** Maximum size of one answer. */
const ANSWER_BYTES_MAX = 32 * 1024 ** 2;

/** A number has up to 21 bytes as text, with its comma; in base64, four bytes become about 5.34. */
const NUMBER_BYTES = { float: 21, base64: 5.34 };

/** Rejects inputs whose vectors do not fit into one answer, judged by the size of the first vector. */
export function refuseLargeAnswer(
  {
    dimensions,
    encoding_format: format,
  }: { dimensions?: number | null; encoding_format?: 'float' | 'base64' | null },
  { count, vector }: { count: number; vector: Buffer | undefined },
): void {
  const size = (vector?.length ?? 0) / 4;
  const numbers = Math.min(dimensions ?? size, size);
  const most = Math.max(1, Math.floor(ANSWER_BYTES_MAX / NUMBER_BYTES[format ?? 'float'] / numbers));
  if (count <= most) return;
  throw refused(
    'input',
    `input: at most ${most} inputs in one request, where each vector has ${numbers} numbers${format === 'base64' ? '' : '. Ask for encoding_format base64'}, or send the others in another`,
  );
}
