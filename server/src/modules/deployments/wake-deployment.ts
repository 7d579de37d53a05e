import type { Services } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { holdPeriod } from './meter-deployment.ts';
import { lockDeployment, noteAwake } from './queries.ts';
import { reconcileTextServer } from './reconcile-text-server.ts';
import { refuseManyBases } from './refuse-many-bases.ts';

/** Wakes a sleeping deployment; its meter starts when it answers. Throws AppError 'insufficient_funds'. */
export async function wakeDeployment(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  podId: string,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const deployment = await lockDeployment(tx, podId);
    if (!deployment.sleeping || deployment.terminated_at) return;
    await refuseManyBases(tx, {
      userId: deployment.user_id,
      serverId: deployment.text_server_id,
      baseAssetId: deployment.base_asset_id,
    });
    await noteAwake(tx, podId, clock.now());
    await reconcileTextServer(tx, clock, deployment.text_server_id);
    await publishChange(tx, deployment.user_id, { topic: 'deployment', id: podId });
    await holdPeriod(tx, clock.now(), deployment);
  });
}
