import type { RestrictedModel } from '@bakehouse/contract/restricted-models';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { findModel } from './queries.ts';
import { toRestrictedModel } from './to-restricted-model.ts';

/** Returns a restricted model with the state of the caller's request. */
export async function getRestrictedModel(
  ctx: Context,
  { modelId }: { modelId: string },
): Promise<RestrictedModel> {
  const model = await findModel(ctx.db, { userId: ctx.caller.userId, modelId });
  if (!model) throw new AppError('not_found', { publicMessage: 'There is no restricted model with this id' });
  return toRestrictedModel(model);
}
