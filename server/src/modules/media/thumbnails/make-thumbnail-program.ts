import { PICTURE_PIXELS_MAX, THUMBNAIL_SIDE_MAX } from '@bakehouse/contract/media';
import sharp from 'sharp';
import { answerConfined } from '../../../platform/confined/answer-confined.ts';

// Whatever else the library could read is no picture here.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['VipsForeignLoadPng', 'VipsForeignLoadJpeg', 'VipsForeignLoadWebp'],
});

/** The program of `makeThumbnail`: turned as the camera held it, and without any metadata. */
await answerConfined(async ({ localPath }: { localPath: string }) => {
  const webp = await sharp(localPath, { limitInputPixels: PICTURE_PIXELS_MAX })
    .autoOrient()
    .resize({ width: THUMBNAIL_SIDE_MAX, height: THUMBNAIL_SIDE_MAX, fit: 'inside' })
    .webp({ quality: 80 })
    .toBuffer();
  return { webp: webp.toString('base64') };
});
