import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError } from '../../../platform/errors.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { announceClone } from '../clone/announce-clone.ts';
import type { CloneRow } from '../clone/clones-table.ts';
import { countOpenClones, findOpenClone, insertClone } from '../clone/queries.ts';
import type { Repo } from '../public/hub-client.ts';

/** Clones for everybody that wait or are copied. */
const OPEN_MAX = 20;

/**
 * Starts a clone of a commit for everybody, or answers the one that is under way: however many ask, it is copied once.
 * Throws AppError 'unavailable' where many wait already.
 */
export async function startMirroring(
  { caller, clock, db }: Pick<Context, 'caller' | 'clock' | 'db'>,
  { repo, commitId }: { repo: Repo; commitId: string },
): Promise<CloneRow> {
  const wanted = { userId: null, repoId: repo.id, datasetType: repo.type === 'model' ? 'MODEL' : 'RAW' };
  return inTransaction(db, async (tx) => {
    const open = await findOpenClone(tx, wanted);
    if (open) return open;
    if ((await countOpenClones(tx, null)) >= OPEN_MAX)
      throw new AppError('unavailable', {
        publicMessage: `${OPEN_MAX} repositories are being copied from the public hub already. Try again later`,
      });
    const now = clock.now();
    const inserted = await insertClone(tx, {
      ...{ user_id: null, repo_id: repo.id, dataset_type: wanted.datasetType, commit_id: commitId },
      ...{ check_at: now, created_at: now },
    });
    // Two calls at once: whoever was faster has committed by now.
    if (!inserted) return required(await findOpenClone(tx, wanted));
    await record(tx, caller.userId, inserted);
    await announceClone(tx, inserted);
    return inserted;
  });
}

async function record(tx: Transaction, userId: string, { repo_id, dataset_type }: CloneRow): Promise<void> {
  await recordAudit(tx, {
    userId,
    action: 'clone.started',
    detail: { repo_id, type: dataset_type, for: 'everybody' },
  });
}

function required(row: CloneRow | undefined): CloneRow {
  if (row) return row;
  throw new AppError('unavailable', { publicMessage: 'It has just been copied. Try again' });
}
