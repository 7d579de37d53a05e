import type { listLoras as endpoint } from '@bakehouse/contract/assets';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import { unknownCursor } from '../../../platform/unknown-cursor.ts';
import { findLoraFile } from './find-lora-file.ts';
import { isOwnModel, selectWeights, type Weights } from './queries.ts';

/** Models that are looked at at once: most of somebody's may be none. */
const LOOKED_AT = 200;

/** The caller's models that are LoRAs for images, the newest first; the cursor is the last one of the page before. */
export async function listLoras(
  { db, caller: { userId } }: Context,
  { search, cursor, limit }: InputOf<typeof endpoint>['query'],
): Promise<ResponseOf<typeof endpoint>> {
  if (cursor !== undefined && !(await isOwnModel(db, { userId, id: cursor }))) throw unknownCursor();
  const found: Weights[] = [];
  let models: Weights[] = [];
  do {
    const after = models.at(-1)?.id ?? cursor;
    models = await selectWeights(db, { userId, search, after, limit: LOOKED_AT });
    found.push(...models.filter(({ paths }) => findLoraFile(paths.map((path) => ({ path })))));
  } while (found.length <= limit && models.length === LOOKED_AT);
  const loras = found.slice(0, limit).map(({ id, title }) => ({ id, title }));
  return { loras, next_cursor: found.length > limit ? (loras.at(-1)?.id ?? null) : null };
}
