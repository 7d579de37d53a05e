import type { Database, Transaction } from '../../../platform/db/database.ts';
import { AppError } from '../../../platform/errors.ts';
import { findGenerations, findOutputs } from '../../generations/find-generations.ts';
import type { GenerationRow, OutputRow } from '../../generations/queries.ts';

const WORDS_MAX = 48;

export type Picture = { row: GenerationRow; output: OutputRow; name: string };

/**
 * Returns the pictures of these generations, in order. Throws AppError 'not_found' unless all belong to the
 * user, and 'invalid_request' if a generation has no picture.
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

/** Returns a readable file name from a picture's prompt; the end of its id makes it unique. */
function pictureName(prompt: string, output: { id: string; media_type: string }): string {
  const words = prompt
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{Mark}+/gu, '')
    .replace(/[^\p{Letter}\p{Number}]+/gu, '-')
    .slice(0, WORDS_MAX)
    .replace(/^-|[^\p{Letter}\p{Number}]+$/gu, '');
  const extension = output.media_type.split('/').at(-1)?.replace('jpeg', 'jpg');
  return `${words || 'picture'}-${output.id.slice(-12)}.${extension}`;
}
