import type { Database, Transaction } from '../../../platform/db/database.ts';
import { AppError } from '../../../platform/errors.ts';
import { findSweep, type SweepRow } from './sweep-queries.ts';

/** The user's own sweep. Throws AppError('not_found') for any other. */
export async function findOwnSweep(
  db: Database | Transaction,
  { sweepId, userId }: { sweepId: string; userId: string },
): Promise<SweepRow> {
  const sweep = await findSweep(db, sweepId);
  if (sweep?.userId !== userId) throw new AppError('not_found', { publicMessage: 'Sweep not found' });
  return sweep;
}
