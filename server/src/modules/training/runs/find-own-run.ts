import { findWorkload } from '../../../engine/find-workload.ts';
import type { Workload } from '../../../engine/model/workload.ts';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { AppError } from '../../../platform/errors.ts';
import { findRun, type RunRow } from '../queries.ts';

/** Returns the user's own run with its workload. Throws AppError('not_found') for any other. */
export async function findOwnRun(
  db: Database | Transaction,
  { runId, userId }: { runId: string; userId: string },
): Promise<{ run: RunRow; workload: Workload }> {
  // In this order: the charge is committed together with the end, so a workload that has ended has its
  // charge.
  const workload = await findWorkload(db, runId);
  const run = await findRun(db, runId);
  if (!run || !workload || run.userId !== userId)
    throw new AppError('not_found', { publicMessage: 'Run not found' });
  return { run, workload };
}
