import type { Generation } from '@bakehouse/contract/generations';
import { saveAs } from '../../../lib/api/download.ts';
import { fetchPicture } from './fetch-picture.ts';

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
