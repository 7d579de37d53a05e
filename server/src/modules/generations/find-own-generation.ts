import type { Transaction } from '../../platform/db/database.ts';
import { AppError } from '../../platform/errors.ts';
import { type GenerationRow, lockGeneration } from './queries.ts';

/** Locks and returns the user's generation. Throws AppError 'not_found'. */
export async function findOwnGeneration(
  tx: Transaction,
  own: { id: string; userId: string },
): Promise<GenerationRow> {
  const row = await lockGeneration(tx, own, 'changes');
  if (!row) throw new AppError('not_found', { publicMessage: 'No generation has this id' });
  return row;
}
