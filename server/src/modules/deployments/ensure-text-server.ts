import { type Transaction, toJson } from '../../platform/db/database.ts';
import type { ServingPlacement } from './choose-placement.ts';
import { upsertTextServer } from './queries.ts';
import type { ServedBase } from './text-server-spec.ts';

/** The text server of this base on this placement, locked; made when there is none. Returns its id. */
export async function ensureTextServer(
  tx: Transaction,
  base: ServedBase,
  placement: ServingPlacement,
): Promise<string> {
  return upsertTextServer(tx, {
    engine: base.engine,
    filesSha256: base.filesSha256,
    baseFiles: toJson(base.files),
    modelFile: base.modelFile,
    accelerator: placement.accelerator,
    acceleratorCount: placement.count,
  });
}
