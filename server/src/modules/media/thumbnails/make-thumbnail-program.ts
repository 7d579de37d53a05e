import { PICTURE_PIXELS_MAX, THUMBNAIL_SIDE_MAX } from '@bakehouse/contract/media';
import sharp from 'sharp';
import { answerConfined } from '../../../platform/confined/answer-confined.ts';

// Block all other loaders, so that the library accepts no other formats.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['VipsForeignLoadPng', 'VipsForeignLoadJpeg', 'VipsForeignLoadWebp'],
});

/**
 * Entry point of `makeThumbnail`'s sandboxed process. Applies the camera's orientation and drops all
 * metadata.
 */
await answerConfined(async ({ localPath }: { localPath: string }) => {
  const webp = await sharp(localPath, { limitInputPixels: PICTURE_PIXELS_MAX })
    .autoOrient()
    .resize({ width: THUMBNAIL_SIDE_MAX, height: THUMBNAIL_SIDE_MAX, fit: 'inside' })
    .webp({ quality: 80 })
    .toBuffer();
  return { webp: webp.toString('base64') };
});
