import type { Transaction } from '../platform/db/database.ts';
import { AppError } from '../platform/errors.ts';
import { lockWorkload } from './lock-workload.ts';
import type { Workload } from './model/workload.ts';
import { updateWorkload, wakeEngines } from './queries.ts';
import { secondsSaved } from './seconds-saved.ts';

/**
 * Transaction step: resumes an ended workload from its files, under the same id. Throws AppError('conflict')
 * unless it was stopped or failed and its files still exist.
 */
export async function resumeWorkload(
  tx: Transaction,
  { id, now }: { id: string; now: Date },
): Promise<Workload> {
  const workload = await lockWorkload(tx, id);
  if (workload?.state !== 'stopped' && workload?.state !== 'failed') {
    throw new AppError('conflict', { publicMessage: 'Only what was cancelled or has failed can be resumed' });
  }
  if (workload.filesRemovedAt) {
    throw new AppError('conflict', { publicMessage: 'Its work was kept for seven days, and is gone now' });
  }
  const savedSeconds = secondsSaved(workload);
  await wakeEngines(tx);
  return updateWorkload(tx, id, {
    wanted: 'running',
    state: 'queued',
    reason: '',
    outcome: null,
    // Rejects reports of the previous attempt.
    tokenSha256: null,
    failures: 0,
    activeSeconds: savedSeconds,
    savedSeconds,
    stopRequestedAt: null,
    stopReason: null,
    endedAt: null,
    queuedAt: now,
    notBefore: now,
    checkAt: now,
  });
}
