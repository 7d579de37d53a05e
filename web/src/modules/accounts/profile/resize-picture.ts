import { ApiError } from '../../../lib/api/api-error.ts';

/** What is shown is smaller; dense screens show twice the pixels. */
const SIDE = 256;
const QUALITY = 0.85;

/**
 * The middle square of a picture as a small data URL. It is painted anew, so that nothing that the file had beside the
 * picture, such as where it was taken, goes along. Throws an `ApiError` for what this browser cannot show.
 */
export async function resizePicture(file: File): Promise<string> {
  const source = await createImageBitmap(file).catch(() => {
    // As the server refuses what is wrong with an input: it is no error to report.
    throw new ApiError('This file is not a picture that can be shown. Choose a PNG, JPEG, WebP or GIF.', {
      status: 400,
      code: 'invalid_request',
    });
  });
  const canvas = document.createElement('canvas');
  canvas.width = SIDE;
  canvas.height = SIDE;
  const side = Math.min(source.width, source.height);
  const context = canvas.getContext('2d');
  if (!context) throw new Error('This browser cannot resize pictures.');
  context.imageSmoothingQuality = 'high';
  context.drawImage(
    source,
    (source.width - side) / 2,
    (source.height - side) / 2,
    side,
    side,
    0,
    0,
    SIDE,
    SIDE,
  );
  source.close();
  // A browser that knows no WebP answers with a PNG, as the data URL then says.
  return canvas.toDataURL('image/webp', QUALITY);
}
