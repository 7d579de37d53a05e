import { PICTURE_PIXELS_MAX } from '@bakehouse/contract/media';
import sharp from 'sharp';

/** Length of a thumbnail's longer side in pixels, for screens with two pixels per CSS pixel. */
const SIDE_MAX = 128;

// Block the library's decoders for all other formats, because the files are untrusted.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: ['VipsForeignLoadPng', 'VipsForeignLoadJpeg', 'VipsForeignLoadWebp'] });

/**
 * Returns the thumbnail as a data URL, and the size of the original picture. Throws for an invalid or broken
 * picture.
 */
export async function toThumbnail(
  picture: Uint8Array | string,
): Promise<{ thumbnail: string; width: number; height: number }> {
  const whole = sharp(picture, { limitInputPixels: PICTURE_PIXELS_MAX, failOn: 'error' });
  const { autoOrient } = await whole.metadata();
  const webp = await whole
    .autoOrient()
    .resize({ width: SIDE_MAX, height: SIDE_MAX, fit: 'inside', withoutEnlargement: true })
    .webp({ quality: 75 })
    .toBuffer();
  return { thumbnail: `data:image/webp;base64,${webp.toString('base64')}`, ...autoOrient };
}

/** Returns the reason why a picture cannot be read: the first line of the library's message. */
export function faultOf(error: unknown): string {
  const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return reason.replace(/:\s*$/, '');
}
