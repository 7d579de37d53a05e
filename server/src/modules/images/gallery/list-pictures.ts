import type { Database, Transaction } from '../../../platform/db/database.ts';
import { AppError } from '../../../platform/errors.ts';
import { findGenerations, findOutputs } from '../../generations/find-generations.ts';
import type { GenerationRow, OutputRow } from '../../generations/queries.ts';
import { pictureName } from './picture-name.ts';

export type Picture = { row: GenerationRow; output: OutputRow; name: string };

/**
 * The pictures of these generations, in their order. Throws AppError 'not_found' unless each is the user's, and
 * 'invalid_request' where one has made no picture.
 */
export async function listPictures(
  db: Database | Transaction,
  { ids, userId }: { ids: string[]; userId: string },
): Promise<Picture[]> {
  const rows = await findGenerations(db, { ids, userId });
  const outputs = await findOutputs(db, ids);
  return ids.flatMap((id) => {
    const row = rows.get(id);
    if (!row) throw new AppError('not_found', { publicMessage: 'No generation has this id', param: 'ids' });
    const made = outputs.get(id) ?? [];
    if (made.length === 0) {
      throw new AppError('invalid_request', {
        publicMessage: `ids: generation ${id} has made no picture`,
        param: 'ids',
      });
    }
    return made.map((output) => ({ row, output, name: pictureName(row.prompt, output) }));
  });
}
