import type { FineTunePayload } from '@bakehouse/contract/training';
import type { Context } from '../../platform/context.ts';
import { refused } from '../../platform/errors.ts';
import { isUuid } from '../../platform/is-uuid.ts';
import { findClonedAsset } from '../assets/sources/sources.ts';

/**
 * Returns the payload with a base model as asset id, or as hub name if the caller has no clone of it. Throws
 * AppError 'invalid_request' for an unknown id.
 */
export async function withHubModel(ctx: Context, payload: FineTunePayload): Promise<FineTunePayload> {
  const { hf_model_id: repoId, ...rest } = payload;
  if (repoId === undefined) {
    if (!isUuid(rest.base_model)) throw refused('fine_tune_payload.base_model', 'No model has this id');
    return rest;
  }
  const cloned = await findClonedAsset(ctx.db, { userId: ctx.caller.userId, repoId, type: 'model' });
  return { ...rest, base_model: cloned ?? repoId };
}
