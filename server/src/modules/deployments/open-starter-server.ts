import type { Context } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { findStarterModel } from '../assets/starter-models.ts';
import { choosePlacement } from './choose-placement.ts';
import { describeServedModel } from './describe-served-model.ts';
import { ensureTextServer } from './ensure-text-server.ts';
import { nameStarterServer, setStarterRequested } from './queries.ts';
import { reconcileTextServer } from './reconcile-text-server.ts';
import type { ServingParts } from './serving-parts.ts';

/**
 * Wakes the starter model of that name: its newest revision, on the best placement that there is.
 * False when there is no such model.
 */
export async function openStarterServer(
  ctx: Context,
  parts: ServingParts,
  modelName: string,
): Promise<boolean> {
  const starter = await findStarterModel(ctx.db, modelName);
  const placement = choosePlacement({ instanceType: 'a100', gpuCount: 1 }, await parts.capacity());
  if (!starter || !placement) return false;
  const { base } = await describeServedModel(ctx, starter.assetId, placement.engine);
  await inTransaction(ctx.db, async (tx) => {
    const serverId = await ensureTextServer(tx, base, placement);
    await nameStarterServer(tx, serverId, { assetId: starter.assetId, modelName });
    await setStarterRequested(tx, serverId, ctx.clock.now());
    await reconcileTextServer(tx, ctx.clock, serverId);
  });
  return true;
}
