import {
  PICTURE_BYTES_MAX,
  PICTURE_PIXELS_MAX,
  PICTURE_RATIO_MAX,
  pictureMessages,
} from '@bakehouse/contract/media';

const HEAD_BYTES = 12;

type Pixels = { width: number; height: number };

/**
 * Returns why a file cannot be edited, before it is sent, or null. `measure` throws for undecodable pictures.
 */
export async function pictureProblem(
  file: File,
  measure: (file: File) => Promise<Pixels> = measurePicture,
): Promise<string | null> {
  if (file.size > PICTURE_BYTES_MAX) return pictureMessages.tooLarge;
  try {
    // The file name and the reported type are unreliable.
    if (!isKnownFormat(await file.slice(0, HEAD_BYTES).arrayBuffer())) return pictureMessages.type;
    const { width, height } = await measure(file);
    if (width * height > PICTURE_PIXELS_MAX) return pictureMessages.tooManyPixels;
    const isNarrow = Math.max(width, height) > PICTURE_RATIO_MAX * Math.min(width, height);
    return isNarrow ? pictureMessages.tooNarrow : null;
  } catch {
    return pictureMessages.broken;
  }
}

function isKnownFormat(head: ArrayBuffer): boolean {
  const text = String.fromCharCode(...new Uint8Array(head));
  return (
    text.startsWith('\x89PNG\r\n\x1a\n') ||
    text.startsWith('\xff\xd8\xff') ||
    (text.startsWith('RIFF') && text.slice(8) === 'WEBP')
  );
}

async function measurePicture(file: File): Promise<Pixels> {
  const url = URL.createObjectURL(file);
  try {
    return await new Promise((resolve, reject) => {
      const picture = new Image();
      picture.onload = () => resolve({ width: picture.naturalWidth, height: picture.naturalHeight });
      picture.onerror = () => reject(new Error('the browser cannot decode the picture'));
      picture.src = url;
    });
  } finally {
    URL.revokeObjectURL(url);
  }
}
