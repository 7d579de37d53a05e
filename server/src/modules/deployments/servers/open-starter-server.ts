import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { findStarterModel } from '../../models/starter/find-starter-model.ts';
import type { ReadCapacity } from '../../serving/served-model.ts';
import { type ServerKindName, serverKinds } from '../../serving/server-kinds.ts';
import { ensureModelServer } from './model-servers.ts';
import { reconcileModelServer } from './reconcile-model-server.ts';
import { nameStarterServer, setStarterRequested } from './server-queries.ts';

const STARTER_INSTANCE = { instanceType: 'a100', gpuCount: 1 };

/**
 * Wakes the starter model with this name, with its newest revision and on the best available placement.
 * Returns false if there is no such model. Throws the errors of the kind's placement, such as 'conflict' for
 * a model of another kind.
 */
export async function openStarterServer(
  ctx: Context,
  parts: ReadCapacity,
  { modelName, kind }: { modelName: string; kind: ServerKindName },
): Promise<boolean> {
  const starter = await findStarterModel(ctx.db, modelName);
  const placed = starter && (await serverKinds[kind].place(ctx, parts, starter.assetId, STARTER_INSTANCE));
  if (!placed) return false;
  await inTransaction(ctx.db, async (tx) => {
    const serverId = await ensureModelServer(tx, { kind, placed, own: null });
    await nameStarterServer(tx, serverId, {
      assetId: starter.assetId,
      revisionId: placed.model.revisionId,
      modelName,
    });
    await setStarterRequested(tx, serverId, ctx.clock.now());
    await reconcileModelServer(tx, ctx.clock, serverId);
  });
  return true;
}
