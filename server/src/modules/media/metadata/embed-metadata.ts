import type { pictureTypes } from '@bakehouse/contract/media';
import { withJpegExif } from './jpeg-exif.ts';
import { withPngTexts } from './png-texts.ts';
import { withWebpExif } from './webp-exif.ts';

type Picture = { bytes: Buffer; mediaType: (typeof pictureTypes)[number]; width: number; height: number };

/**
 * The file of a picture that says inside how it was made, as the files of the model servers do: a PNG with a text chunk for
 * each key, the others with all of them as one JSON object in EXIF's UserComment. Not a pixel changes, and what
 * the file said before stays. Throws Error where its EXIF is damaged, or leaves no room. Pure.
 */
export function embedMetadata(picture: Picture, metadata: Record<string, string>): Buffer {
  const { bytes, mediaType } = picture;
  if (mediaType === 'image/png') return withPngTexts(bytes, metadata);
  const comment = asciiJson(metadata);
  return mediaType === 'image/jpeg' ? withJpegExif(bytes, comment) : withWebpExif(bytes, comment, picture);
}

/** EXIF knows no UTF-8. */
function asciiJson(metadata: Record<string, string>): string {
  return JSON.stringify(metadata).replaceAll(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
