import type { Transaction } from '../../platform/db/database.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { settleTime } from './meter-deployment.ts';
import type { DeploymentRow } from './queries.ts';

/**
 * Ends a deployment for good and settles its bill: the time in which it answered. A step; the caller
 * holds the lock on the row and reconciles the text server afterwards.
 */
export async function endDeployment(
  tx: Transaction,
  now: Date,
  deployment: DeploymentRow,
  end: { failed: boolean; reason: string },
): Promise<void> {
  await settleTime(tx, now, deployment);
  await tx
    .updateTable('deployments')
    .set({ terminated_at: now, failed: end.failed, reason: end.reason })
    .where('id', '=', deployment.id)
    .execute();
  await publishChange(tx, deployment.user_id, { topic: 'deployment', id: deployment.id });
}
