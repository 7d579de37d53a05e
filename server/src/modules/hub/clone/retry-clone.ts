import type { Clone } from '@bakehouse/contract/hub/clones';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError } from '../../../platform/errors.ts';
import { announceClone } from './announce-clone.ts';
import { findOwnClone, lockOwnClone } from './find-own-clone.ts';
import { findOpenClone, insertLines, updateClone } from './queries.ts';
import { toWire } from './to-wire.ts';

/**
 * Resumes a failed or cancelled clone at its commit; does nothing if it is running. Throws AppError
 * 'not_found', and 'conflict' if it is complete or another clone copies the repository now.
 */
export async function retryClone(ctx: Context, { id }: { id: string }): Promise<Clone> {
  const own = { id, userId: ctx.caller.userId };
  await inTransaction(ctx.db, async (tx) => {
    const row = await lockOwnClone(tx, own);
    if (row.ended_at === null) return;
    if (row.state === 'COMPLETED')
      throw new AppError('conflict', {
        publicMessage: `${row.repo_id} is cloned: there is nothing to try again`,
      });
    const { repo_id: repoId, dataset_type: datasetType } = row;
    if (await findOpenClone(tx, { userId: own.userId, repoId, datasetType }))
      throw new AppError('conflict', { publicMessage: `${repoId} is being cloned already` });
    const anew = { state: 'QUEUED', reason: '', attempt: 0, ended_at: null, check_at: ctx.clock.now() };
    await updateClone(tx, id, anew);
    await insertLines(tx, id, ['Trying again']);
    await announceClone(tx, row);
  });
  return toWire(await findOwnClone(ctx.db, own));
}
