import type { FineTunePayload } from '@bakehouse/contract/training';
import type { Context } from '../../platform/context.ts';
import { refused } from '../../platform/errors.ts';
import { isUuid } from '../../platform/is-uuid.ts';
import { findClonedAsset } from '../assets/sources/sources.ts';

/**
 * What is to be fine-tuned with its base model by its id: of a model of the public hub, the caller's clone of it. Throws
 * AppError 'invalid_request' where there is none.
 */
export async function withHubModel(ctx: Context, payload: FineTunePayload): Promise<FineTunePayload> {
  const { hf_model_id: repoId, ...rest } = payload;
  if (repoId === undefined) {
    if (!isUuid(rest.base_model)) throw refused('fine_tune_payload.base_model', 'No model has this id');
    return rest;
  }
  const cloned = await findClonedAsset(ctx.db, { userId: ctx.caller.userId, repoId, type: 'model' });
  if (cloned) return { ...rest, base_model: cloned };
  throw refused(
    'fine_tune_payload.hf_model_id',
    `You have no clone of ${repoId}: clone it from the public hub first`,
  );
}
