import { PICTURE_PIXELS_MAX, THUMBNAIL_SIDE_MAX } from '@bakehouse/contract/media';
import sharp from 'sharp';
import { answerConfined } from '../../../platform/confined/answer-confined.ts';

// Allow only these loaders, so that the library accepts no other formats.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['VipsForeignLoadPng', 'VipsForeignLoadJpeg', 'VipsForeignLoadWebp'],
});

/** The program behind `makeThumbnail`: applies the camera's orientation and drops all metadata. */
await answerConfined(async ({ localPath }: { localPath: string }) => {
  const webp = await sharp(localPath, { limitInputPixels: PICTURE_PIXELS_MAX })
    .autoOrient()
    .resize({ width: THUMBNAIL_SIDE_MAX, height: THUMBNAIL_SIDE_MAX, fit: 'inside' })
    .webp({ quality: 80 })
    .toBuffer();
  return { webp: webp.toString('base64') };
});
