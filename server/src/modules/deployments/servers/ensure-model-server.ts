import { type Transaction, toJson } from '../../../platform/db/database.ts';
import type { PlacedModel } from '../../serving/served-model.ts';
import type { ServerKindName } from '../../serving/server-kinds.ts';
import { upsertModelServer } from './server-queries.ts';

type Wanted = {
  kind: ServerKindName;
  placed: PlacedModel;
  /** Null for the shared server; else the deployment that owns it, and its number of replicas. */
  own: { deploymentId: string; replicas: number } | null;
};

/**
 * Locks or creates the model server of this base on this placement. Returns its id, or the id of its first
 * replica.
 */
export async function ensureModelServer(tx: Transaction, { kind, placed, own }: Wanted): Promise<string> {
  const { model, placement, context } = placed;
  const server = {
    kind,
    engine: model.base.engine,
    filesSha256: model.base.filesSha256,
    baseFiles: toJson(model.base.files),
    accelerator: placement.accelerator,
    acceleratorCount: placement.count,
    contextTokens: context?.tokens ?? 0,
    deploymentId: own?.deploymentId ?? null,
  };
  const id = await upsertModelServer(tx, { ...server, replica: 1 });
  for (let replica = 2; replica <= (own?.replicas ?? 1); replica += 1) {
    await upsertModelServer(tx, { ...server, replica });
  }
  return id;
}
