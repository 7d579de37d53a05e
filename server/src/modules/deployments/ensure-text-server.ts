import { toJson, type Transaction } from '../../platform/db/database.ts';
import type { ServingPlacement } from './choose-placement.ts';
import type { ServedModel } from './describe-served-model.ts';
import { lockTextServer, type TextServerRow } from './queries.ts';

/** The text server of these weights on this placement, locked; made when there is none. */
export async function ensureTextServer(
  tx: Transaction,
  model: Pick<ServedModel, 'base' | 'baseSha256'>,
  placement: ServingPlacement,
): Promise<TextServerRow> {
  const { id } = await tx
    .insertInto('text_servers')
    .values({
      engine: model.base.engine,
      base_sha256: model.baseSha256,
      base_files: toJson(model.base.files),
      model_file: model.base.modelFile,
      accelerator: placement.accelerator,
      accelerator_count: placement.count,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['engine', 'base_sha256', 'accelerator', 'accelerator_count'])
        // Changes nothing; makes the row that is there come back, locked.
        .doUpdateSet((row) => ({ engine: row.ref('excluded.engine') })),
    )
    .returning('id')
    .executeTakeFirstOrThrow();
  return lockTextServer(tx, id);
}
