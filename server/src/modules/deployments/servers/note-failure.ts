import type { WorkloadWithSpec } from '../../../engine/model/workload.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { notify } from '../../notifications/notify.ts';
import { countTime } from '../metering/meter-deployment.ts';
import { type DeploymentRow, noteAsleep, noteEnd } from '../queries.ts';
import { judgeFailure } from './plan/judge-failure.ts';
import { neverSleeps } from './plan/never-sleeps.ts';
import { carries } from './plan/server-workload.ts';

type Failure = {
  failed: WorkloadWithSpec;
  /** The workload that still serves, if any. */
  up: WorkloadWithSpec | null;
  now: Date;
};

/**
 * Step: ends the deployments that the failed start leaves unserved, or puts them to sleep, and returns them.
 * Deployments that never sleep are left unchanged.
 */
export async function noteFailure(
  tx: Transaction,
  live: DeploymentRow[],
  { failed, up, now }: Failure,
): Promise<DeploymentRow[]> {
  const { ended, asleep } = judgeFailure(
    live.map((row) => ({
      row,
      proven: row.ready_at !== null,
      neverSleeps: neverSleeps(row),
      failed: carries(failed, row),
      served: up !== null && carries(up, row),
    })),
  );
  const end = { now, failed: true, reason: failed.reason, carrierId: failed.id };
  for (const { row } of [...ended, ...asleep]) await countTime(tx, now, row);
  for (const { row } of ended) await noteEnd(tx, row.id, end);
  await notify(
    tx,
    ...ended.map(({ row }) => ({
      userId: row.user_id,
      kind: 'deployment_failed' as const,
      data: { pod_id: row.id, title: row.title },
    })),
  );
  const reason = `Asleep: its model server could not start (${failed.reason}). The next request tries again.`;
  for (const { row } of asleep) await noteAsleep(tx, row.id, reason);
  return [...ended, ...asleep].map(({ row }) => row);
}
