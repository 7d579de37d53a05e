import type { WorkloadState } from '../../../engine/workload.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { notify } from '../../notifications/notify.ts';
import type { RunRow } from '../queries.ts';

/** Step: notifies the owner of a run of how it has ended. */
export async function notifyOfEnd(
  tx: Transaction,
  { id, userId, title }: Pick<RunRow, 'id' | 'userId' | 'title'>,
  state: WorkloadState,
): Promise<void> {
  const kind = state === 'completed' ? 'run_completed' : state === 'failed' ? 'run_failed' : 'run_cancelled';
  await notify(tx, { userId, kind, data: { run_id: id, title } });
}
