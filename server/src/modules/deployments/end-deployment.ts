import type { Services } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { settleTime } from './meter-deployment.ts';
import { lockDeployment, noteEnd } from './queries.ts';
import { reconcileTextServer } from './reconcile-text-server.ts';

/** Ends a deployment for good and settles its bill: the time in which it answered. One that has ended stays as it is. */
export async function endDeployment(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  podId: string,
  reason: string,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const deployment = await lockDeployment(tx, podId);
    if (deployment.terminated_at) return;
    const now = clock.now();
    await noteEnd(tx, podId, { now, failed: false, reason });
    await reconcileTextServer(tx, clock, deployment.text_server_id);
    await publishChange(tx, deployment.user_id, { topic: 'deployment', id: podId });
    await settleTime(tx, now, deployment);
  });
}
