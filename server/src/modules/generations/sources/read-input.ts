import { buffer } from 'node:stream/consumers';
import type { Services } from '../../../platform/context.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import type { GenerationRow } from '../queries.ts';
import { findInputPictures } from './picture-queries.ts';

/** Returns the whole input picture of a generation; null if it has none. */
export async function readInput(
  services: Services,
  { id }: Pick<GenerationRow, 'id'>,
): Promise<{ bytes: Buffer; mediaType: string } | null> {
  const picture = (await findInputPictures(services.db, [id])).get(id);
  if (!picture) return null;
  const { sha256, mediaType } = picture;
  return { bytes: await buffer(await readBlob(services, { sha256, path: `source of ${id}` })), mediaType };
}
