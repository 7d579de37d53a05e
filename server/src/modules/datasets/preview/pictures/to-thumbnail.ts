import { PICTURE_PIXELS_MAX } from '@bakehouse/contract/media';
import sharp from 'sharp';

/** Of a thumbnail, on a screen of two pixels for each of its own. */
const SIDE_MAX = 128;

// Whatever else the library could read is no picture here.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: ['VipsForeignLoadPng', 'VipsForeignLoadJpeg', 'VipsForeignLoadWebp'] });

/** A small picture as an address that holds it, and how large the whole one is. Throws for what is none, or broken. */
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

/** Why a picture cannot be read, in the first line of what the library says. */
export function faultOf(error: unknown): string {
  const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return reason.replace(/:\s*$/, '');
}
