import type { WorkloadState } from '../../../engine/model/workload.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { notify } from '../../notifications/notify.ts';
import type { RunRow } from '../queries.ts';

/** Step: notifies a run's owner how it ended. */
export async function notifyOfEnd(
  tx: Transaction,
  run: Pick<RunRow, 'id' | 'userId' | 'title' | 'kind' | 'stopReason'>,
  state: WorkloadState,
): Promise<void> {
  const { id, userId, title, kind, stopReason } = run;
  const data = { run_id: id, title, ...(kind === 'export' && { is_export: true }) };
  if (state === 'completed') await notify(tx, { userId, kind: 'run_completed', data });
  else if (state === 'failed') await notify(tx, { userId, kind: 'run_failed', data });
  else await notify(tx, { userId, kind: 'run_cancelled', data: { ...data, stop_reason: stopReason } });
}
