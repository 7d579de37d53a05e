import { videoMessages } from '@bakehouse/contract/media';
import { BadMedia } from '../bad-media.ts';

/** A box of an MP4 file: its name, and where what it holds begins and ends. */
export type Box = { name: string; start: number; end: number };

const HEADER = 8;
/** Before a box whose length needs eight bytes. */
export const LONG_HEADER = 16;

/** What the head of a box says, which begins at `at` of a file or of another box that ends at `end`; null where it is none. Pure. */
export function readBox(head: Buffer, at: number, end: number): Box | null {
  if (head.length < HEADER) return null;
  const name = head.toString('latin1', 4, 8);
  const short = head.readUInt32BE(0);
  // 0: as far as there is anything.
  if (short === 0) return { name, start: at + HEADER, end };
  const isLong = short === 1;
  if (isLong && head.length < LONG_HEADER) return null;
  const size = isLong ? Number(head.readBigUInt64BE(8)) : short;
  const headerSize = isLong ? LONG_HEADER : HEADER;
  if (size < headerSize || at + size > end) return null;
  return { name, start: at + headerSize, end: at + size };
}

/** An index of nothing but empty boxes would have two million, and hold everybody up. */
const BOXES_INSIDE_MAX = 1000;

/** The boxes inside a box that is here whole, as far as they are boxes. Throws BadMedia where no film has so many. Pure. */
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

/** The first box inside that has this path of names; undefined where there is none. Throws what `boxesIn` throws. Pure. */
export function findBox(
  bytes: Buffer,
  outer: Pick<Box, 'start' | 'end'>,
  ...path: string[]
): Box | undefined {
  const [name, ...rest] = path;
  const box = boxesIn(bytes, outer).find((one) => one.name === name);
  return box && rest.length > 0 ? findBox(bytes, box, ...rest) : box;
}
