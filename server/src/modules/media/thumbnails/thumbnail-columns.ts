import type { Thumbnail } from './make-thumbnail.ts';

type Columns = { thumbnail_sha256: string | null; thumbnail_bytes: bigint | null };

/** What a row of a picture says of its small copy. Pure. */
export function toThumbnailColumns(thumbnail: Thumbnail | null): Columns {
  return {
    thumbnail_sha256: thumbnail?.sha256 ?? null,
    thumbnail_bytes: thumbnail && BigInt(thumbnail.sizeBytes),
  };
}

/** The small copy of the picture of a row; null where there is none. Pure. */
export function toThumbnail({ thumbnail_sha256: sha256, thumbnail_bytes: bytes }: Columns): Thumbnail | null {
  return sha256 === null ? null : { sha256, sizeBytes: Number(bytes) };
}
