import type { InputOf } from '@bakehouse/contract/endpoint';
import type { validateFineTune as endpoint, FineTuneValidation } from '@bakehouse/contract/training';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { clientSignal } from '../../../platform/http/connection.ts';
import { findClonedAsset } from '../../assets/sources/sources.ts';
import { checkFineTune, type TrainingParts } from './check-fine-tune.ts';

/** Validates a run for the wizard. Changes nothing. */
export async function validateFineTune(
  ctx: Context,
  parts: TrainingParts,
  { body }: InputOf<typeof endpoint>,
  { reply }: Pick<Http, 'reply'>,
): Promise<FineTuneValidation> {
  const { dataset_id, model_id, gpu_type, accelerator_count, ...fields } = body;
  const { userId } = ctx.caller;
  const cloned = model_id.includes('/')
    ? await findClonedAsset(ctx.db, { userId, repoId: model_id, type: 'model' })
    : null;
  const check = await checkFineTune(ctx, parts, {
    datasetId: dataset_id,
    baseModelId: cloned ?? model_id,
    gpu: { type: gpu_type, count: accelerator_count },
    validation: null,
    fields,
    cpu: await parts.runCpu(ctx.db),
    signal: clientSignal(reply),
    readsOn: true,
    params: { dataset: 'dataset_id', base: 'model_id' },
  });
  return check.validation;
}
