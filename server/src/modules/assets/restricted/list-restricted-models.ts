import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { listRestrictedModels as endpoint } from '@bakehouse/contract/restricted-models';
import type { Context } from '../../../platform/context.ts';
import { listModels } from './queries.ts';
import { toRestrictedModel } from './to-restricted-model.ts';

/** Lists the restricted models by id, each with the state of the caller's request. */
export async function listRestrictedModels(
  ctx: Context,
  { query: { limit, cursor } }: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
  const found = await listModels(ctx.db, { userId: ctx.caller.userId, cursor, limit: limit + 1 });
  const models = found.slice(0, limit);
  return {
    restricted_models: models.map(toRestrictedModel),
    next_cursor: found.length > limit ? (models.at(-1)?.id ?? null) : null,
  };
}
