import type { Context } from '../../platform/context.ts';
import { holdPeriod } from './meter-deployment.ts';
import { lockDeployment } from './queries.ts';
import { reconcileTextServer } from './reconcile-text-server.ts';

/** Wakes a sleeping deployment; its meter starts when it answers. Throws AppError 'insufficient_funds'. */
export async function wakeDeployment(ctx: Context, podId: string): Promise<void> {
  await ctx.db.transaction().execute(async (tx) => {
    const deployment = await lockDeployment(tx, podId);
    if (!deployment.sleeping || deployment.terminated_at) return;
    await holdPeriod(tx, ctx.clock.now(), deployment);
    await tx
      .updateTable('deployments')
      .set({ sleeping: false, reason: '', last_request_at: ctx.clock.now() })
      .where('id', '=', podId)
      .execute();
    await reconcileTextServer(tx, ctx.clock, deployment.text_server_id);
  });
}
