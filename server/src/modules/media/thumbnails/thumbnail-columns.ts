import type { Thumbnail } from './make-thumbnail.ts';

type Columns = { thumbnail_sha256: string | null; thumbnail_bytes: bigint | null };

/** Returns the thumbnail columns of a picture's row. */
export function toThumbnailColumns(thumbnail: Thumbnail | null): Columns {
  return {
    thumbnail_sha256: thumbnail?.sha256 ?? null,
    thumbnail_bytes: thumbnail && BigInt(thumbnail.sizeBytes),
  };
}

/** Returns the thumbnail of a picture's row; null without one. */
export function toThumbnail({ thumbnail_sha256: sha256, thumbnail_bytes: bytes }: Columns): Thumbnail | null {
  return sha256 === null ? null : { sha256, sizeBytes: Number(bytes) };
}
