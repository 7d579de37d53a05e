import path from 'node:path';
import type { FilePictures } from '@bakehouse/contract/data-files';
import { faultOf, toThumbnail } from './to-thumbnail.ts';

type Looked = Pick<FilePictures['pictures'][number], 'thumbnail' | 'width' | 'height' | 'problem'>;

/**
 * Returns thumbnails of the named files of a folder, in this order. The files are untrusted: run this with
 * limits.
 */
export async function readFilePictures(lent: { folder: string; names: string[] }): Promise<Looked[]> {
  const looked: Looked[] = [];
  for (const name of lent.names) {
    try {
      looked.push({ ...(await toThumbnail(path.join(lent.folder, name))), problem: null });
    } catch (error) {
      const problem = faultOf(error).replaceAll(`${lent.folder}/`, '');
      looked.push({ thumbnail: null, width: null, height: null, problem });
    }
  }
  return looked;
}
