import { downloadImage } from '@bakehouse/contract/file-links';
import { callRaw } from '../../../lib/api/api-client.ts';
import { ApiError } from '../../../lib/api/api-error.ts';

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
