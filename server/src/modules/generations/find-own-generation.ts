import type { Transaction } from '../../platform/db/database.ts';
import { AppError } from '../../platform/errors.ts';
import { type GenerationRow, lockGeneration } from './queries.ts';

/** The user's generation, locked. Throws AppError 'not_found'. */
export async function findOwnGeneration(
  tx: Transaction,
  own: { id: string; userId: string },
): Promise<GenerationRow> {
  const row = await lockGeneration(tx, own, 'changes');
  if (!row) throw new AppError('not_found', { publicMessage: 'No generation has this id' });
  return row;
}
