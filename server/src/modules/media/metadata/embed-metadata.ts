import type { pictureTypes } from '@bakehouse/contract/media';
import { withJpegExif } from './jpeg-exif.ts';
import { withPngTexts } from './png-texts.ts';
import { withWebpExif } from './webp-exif.ts';

type Picture = { bytes: Buffer; mediaType: (typeof pictureTypes)[number]; width: number; height: number };

/**
 * Returns the picture file with its generation parameters embedded, as the model servers do: PNG gets a text
 * chunk per key, other types get one JSON object in EXIF's UserComment. Pixels and existing metadata stay
 * unchanged. Throws Error if the EXIF is damaged or has no room.
 */
export function embedMetadata(picture: Picture, metadata: Record<string, string>): Buffer {
  const { bytes, mediaType } = picture;
  if (mediaType === 'image/png') return withPngTexts(bytes, metadata);
  const comment = asciiJson(metadata);
  return mediaType === 'image/jpeg' ? withJpegExif(bytes, comment) : withWebpExif(bytes, comment, picture);
}

/** EXIF does not support UTF-8. */
function asciiJson(metadata: Record<string, string>): string {
  return JSON.stringify(metadata).replaceAll(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
