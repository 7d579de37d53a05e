import type { Blob } from '../blob-store.ts';

/** A file sent in parts, numbered from 1. All have `partBytes`, except the last one, which may be shorter. */
export type Upload = {
  id: string;
  userId: string;
  /** The blob store's key of the upload. */
  storeKey: string;
  sizeBytes: number;
  partBytes: number;
  /** Announced hash of the whole file, or null. */
  announcedSha256: string | null;
  /** The bytes, once the upload is complete. Its user owns them until the upload ends. */
  blob: Blob | null;
  createdAt: Date;
};

export type UploadPart = { number: number; sha256: string; sizeBytes: number };

/** Small, so that sending a part again over a slow line takes little time. */
const PART_BYTES_MIN = 16 * 1024 * 1024;
const PARTS_MAX = 1000;

/** Returns the part size of a file: 16 MiB, doubled until there are at most 1000 parts. */
export function choosePartBytes(sizeBytes: number): number {
  let partBytes = PART_BYTES_MIN;
  while (sizeBytes > partBytes * PARTS_MAX) partBytes *= 2;
  return partBytes;
}

export function countParts({ sizeBytes, partBytes }: Pick<Upload, 'sizeBytes' | 'partBytes'>): number {
  return Math.ceil(sizeBytes / partBytes);
}

/** Returns the offset and size of a part; null if there is no such part. */
export function placeOfPart(
  upload: Pick<Upload, 'sizeBytes' | 'partBytes'>,
  number: number,
): { number: number; start: number; sizeBytes: number } | null {
  if (!Number.isInteger(number) || number < 1 || number > countParts(upload)) return null;
  const start = (number - 1) * upload.partBytes;
  return { number, start, sizeBytes: Math.min(upload.partBytes, upload.sizeBytes - start) };
}
