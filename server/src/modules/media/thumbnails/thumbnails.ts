import { Readable } from 'node:stream';
import { THUMBNAIL_SIDE_MAX } from '@bakehouse/contract/media';
import * as z from 'zod';
import { runConfined } from '../../../platform/confined/run-confined.ts';
import type { Services } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { withBlobFile } from '../../../platform/storage/read-blob.ts';
import { storeBlob } from '../../../platform/storage/store-blob.ts';

const program = new URL('./make-thumbnail-program.ts', import.meta.url);

/** Limit of CPU time; a picture of 40 megapixels takes a second. */
const CPU_SECONDS = 10;

const HEAP_MB = 256;
const answer = z.object({ webp: z.base64() });

/** The thumbnail of a picture, a WebP file. */
export type Thumbnail = { sha256: string; sizeBytes: number };

export type Picture = { sha256: string; width: number; height: number };

/**
 * Creates and stores the thumbnail of a stored picture. The thumbnail is garbage-collected unless a row
 * references it soon. The untrusted picture is decoded in a sandboxed process. Returns null if the picture is
 * small or cannot be decoded; lists then show the picture itself. Throws AppError 'unavailable' if the
 * machine is too busy, and the signal's reason.
 */
export async function makeThumbnail(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log' | 'sandbox'>,
  { sha256, width, height }: Picture,
  { userId, signal }: { userId: string; signal: AbortSignal },
): Promise<Thumbnail | null> {
  if (Math.max(width, height) <= THUMBNAIL_SIDE_MAX) return null;
  const limits = { kind: 'thumbnail', cpuSeconds: CPU_SECONDS, heapMb: HEAP_MB, userId, signal } as const;
  try {
    const made = await withBlobFile(services, { sha256, path: `picture ${sha256}` }, (localPath) =>
      runConfined(services.sandbox, { program, localPath }, limits),
    );
    return await storeBlob(services, Readable.from([Buffer.from(answer.parse(made).webp, 'base64')]));
  } catch (error) {
    if (signal.aborted || (error instanceof AppError && error.code === 'unavailable')) throw error;
    services.log.warn({ err: error, sha256 }, 'failed to create a thumbnail');
    return null;
  }
}

type Columns = { thumbnail_sha256: string | null; thumbnail_bytes: bigint | null };

/** Returns the values of the thumbnail columns of a picture's row. */
export function toThumbnailColumns(thumbnail: Thumbnail | null): Columns {
  return {
    thumbnail_sha256: thumbnail?.sha256 ?? null,
    thumbnail_bytes: thumbnail && BigInt(thumbnail.sizeBytes),
  };
}

/** Returns the thumbnail of a picture's row; null if it has none. */
export function toThumbnail({ thumbnail_sha256: sha256, thumbnail_bytes: bytes }: Columns): Thumbnail | null {
  return sha256 === null ? null : { sha256, sizeBytes: Number(bytes) };
}
