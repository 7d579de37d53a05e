import { downloadImage } from '@bakehouse/contract/file-links';
import { callRaw } from '../../../lib/api/api-client.ts';
import { ApiError } from '../../../lib/api/api-error.ts';

/** The bytes of a picture of this server, wherever it is stored. Throws an Error with the sentence to show. */
export async function fetchPicture(url: string, filename: string): Promise<Blob> {
  try {
    const response = await callRaw(downloadImage, { query: { url, filename } });
    return await response.blob();
  } catch (error) {
    throw new Error(sentenceFor(error), { cause: error });
  }
}

/** Those of our server say it themselves; what lies between it and the browser may answer too. */
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
