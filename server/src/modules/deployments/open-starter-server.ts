import type { Context } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { findStarterModel } from '../assets/starter-models.ts';
import { ensureTextServer } from './ensure-text-server.ts';
import { placeModel } from './place-model.ts';
import { nameStarterServer, setStarterRequested } from './queries.ts';
import { reconcileTextServer } from './reconcile-text-server.ts';
import type { ServingParts } from './serving-parts.ts';

const STARTER_INSTANCE = { instanceType: 'a100', gpuCount: 1 };

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
  const placed = starter && (await placeModel(ctx, parts, starter.assetId, STARTER_INSTANCE));
  if (!placed) return false;
  await inTransaction(ctx.db, async (tx) => {
    const serverId = await ensureTextServer(tx, placed.model.base, placed.placement);
    await nameStarterServer(tx, serverId, { assetId: starter.assetId, modelName });
    await setStarterRequested(tx, serverId, ctx.clock.now());
    await reconcileTextServer(tx, ctx.clock, serverId);
  });
  return true;
}
