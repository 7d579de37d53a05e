import type { Blob } from '../blob-store.ts';

/** A file that comes in parts, numbered from 1. All have `partBytes`, but for the last, which has the rest. */
export type Upload = {
  id: string;
  userId: string;
  /** The blob store's name for the parts. */
  storeKey: string;
  sizeBytes: number;
  partBytes: number;
  /** What its sender says of the whole file; null where it says nothing. */
  announcedSha256: string | null;
  /** Once its bytes are whole: its user keeps them until the upload ends. */
  blob: Blob | null;
  createdAt: Date;
};

export type UploadPart = { number: number; sha256: string; sizeBytes: number };

/** Small enough that a slow line has not much to send again. */
const PART_BYTES_MIN = 16 * 1024 * 1024;
const PARTS_MAX = 1000;

/** How large the parts of a file of so many bytes are: 16 MiB, and twice as much as often as there would be more than 1000. Pure. */
export function choosePartBytes(sizeBytes: number): number {
  let partBytes = PART_BYTES_MIN;
  while (sizeBytes > partBytes * PARTS_MAX) partBytes *= 2;
  return partBytes;
}

/** Pure. */
export function countParts({ sizeBytes, partBytes }: Pick<Upload, 'sizeBytes' | 'partBytes'>): number {
  return Math.ceil(sizeBytes / partBytes);
}

/** Where a part begins and how many bytes it has; null where there is no such part. Pure. */
export function placeOfPart(
  upload: Pick<Upload, 'sizeBytes' | 'partBytes'>,
  number: number,
): { number: number; start: number; sizeBytes: number } | null {
  if (!Number.isInteger(number) || number < 1 || number > countParts(upload)) return null;
  const start = (number - 1) * upload.partBytes;
  return { number, start, sizeBytes: Math.min(upload.partBytes, upload.sizeBytes - start) };
}
