import { videoMessages } from '@bakehouse/contract/media';
import { BadMedia } from '../bad-media.ts';

/** A box of an MP4 file: its name and the range of its content. */
export type Box = { name: string; start: number; end: number };

const HEADER = 8;
/** Header size of a box with a 64-bit length. */
export const LONG_HEADER = 16;

/** Parses a box header at `at` of a file or outer box that ends at `end`; null if invalid. */
export function readBox(head: Buffer, at: number, end: number): Box | null {
  if (head.length < HEADER) return null;
  const name = head.toString('latin1', 4, 8);
  const short = head.readUInt32BE(0);
  // Length 0: the box extends to the end.
  if (short === 0) return { name, start: at + HEADER, end };
  const isLong = short === 1;
  if (isLong && head.length < LONG_HEADER) return null;
  const size = isLong ? Number(head.readBigUInt64BE(8)) : short;
  const headerSize = isLong ? LONG_HEADER : HEADER;
  if (size < headerSize || at + size > end) return null;
  return { name, start: at + headerSize, end: at + size };
}

/** An index of only empty boxes could have two million and would block the event loop. */
const BOXES_INSIDE_MAX = 1000;

/**
 * Returns the boxes inside a fully loaded box, up to the first invalid one. Throws BadMedia if there are too
 * many.
 */
export function boxesIn(bytes: Buffer, { start, end }: Pick<Box, 'start' | 'end'>): Box[] {
  const found: Box[] = [];
  for (let at = start; at < end; ) {
    const box = readBox(bytes.subarray(at, Math.min(at + LONG_HEADER, end)), at, end);
    if (!box) break;
    if (found.length === BOXES_INSIDE_MAX) throw new BadMedia(videoMessages.broken);
    found.push(box);
    at = box.end;
  }
  return found;
}

/** Returns the first box at this path of names, if any. Throws whatever `boxesIn` throws. */
export function findBox(
  bytes: Buffer,
  outer: Pick<Box, 'start' | 'end'>,
  ...path: string[]
): Box | undefined {
  const [name, ...rest] = path;
  const box = boxesIn(bytes, outer).find((one) => one.name === name);
  return box && rest.length > 0 ? findBox(bytes, box, ...rest) : box;
}
