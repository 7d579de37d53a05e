import { makesVideos } from '@bakehouse/contract/generators';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { AppError } from '../../platform/errors.ts';
import { findGeneration } from '../generations/find-generations.ts';
import type { GenerationRow } from '../generations/queries.ts';

/** Returns the user's generation of a video. Throws AppError 'not_found', also for a picture. */
export async function findVideo(
  db: Database | Transaction,
  own: { id: string; userId: string },
): Promise<GenerationRow> {
  const row = await findGeneration(db, own);
  if (row && makesVideos(row.generator)) return row;
  throw new AppError('not_found', { publicMessage: 'Video not found' });
}
