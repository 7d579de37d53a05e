import { ApiError } from '../../../lib/api/api-error.ts';

/** The largest display size, doubled for dense screens. */
const SIDE = 256;
const QUALITY = 0.85;

/**
 * Returns the central square of a picture as a small data URL. Redraws it, so that metadata such as the
 * location is not included. Throws an `ApiError` if this browser cannot decode it.
 */
export async function resizePicture(file: File): Promise<string> {
  const source = await createImageBitmap(file).catch(() => {
    // Same shape as the server's validation errors, which are not sent to error reporting.
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
  // A browser without WebP support returns a PNG, as the data URL states.
  return canvas.toDataURL('image/webp', QUALITY);
}
