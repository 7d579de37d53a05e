import { downloadImage } from '@bakehouse/contract/file-links';
import type { Generation } from '@bakehouse/contract/generations';
import { callRaw } from '../../../lib/api/api-client.ts';
import { ApiError } from '../../../lib/api/api-error.ts';
import { saveAs } from '../../../lib/api/download.ts';

/** Downloads the picture. Throws an Error whose message can be shown. */
export async function downloadPicture(
  generation: Pick<Generation, 'id' | 'generator' | 'outputs'>,
): Promise<void> {
  const [output] = generation.outputs;
  if (!output?.url) throw new Error('Image URL not provided');
  const extension = output.media_type.split('/').at(-1)?.replace('jpeg', 'jpg');
  // An id begins with its time, so only its end differs between pictures of the same minute.
  const filename = `${generation.generator}-${generation.id.slice(-8)}.${extension}`;
  const blob = await fetchPicture(output.url, filename);
  if (blob.size === 0) throw new Error('Image file is empty or corrupted');
  if (!blob.type.startsWith('image/')) throw new Error('Invalid image source');
  saveAs(blob, filename);
}

/**
 * Returns the bytes of a picture on this server, wherever it is stored. Throws an Error whose message can be
 * shown.
 */
export async function fetchPicture(url: string, filename: string): Promise<Blob> {
  try {
    const response = await callRaw(downloadImage, { query: { url, filename } });
    return await response.blob();
  } catch (error) {
    throw new Error(sentenceFor(error), { cause: error });
  }
}

/** Our server's errors have messages, but a proxy in between may answer too. */
function sentenceFor(error: unknown): string {
  if (!(error instanceof ApiError)) return 'Failed to download image';
  switch (error.status) {
    case 0:
      return 'Could not access image file';
    case 403:
      return 'Access denied to image file';
    case 404:
      return 'Image file not found';
    case 500:
      return 'Server error during download';
    default:
      return error.message;
  }
}
