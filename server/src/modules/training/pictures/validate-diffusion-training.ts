import type {
  DiffusionValidation,
  validateDiffusionTraining as endpoint,
} from '@bakehouse/contract/diffusion-training';
import type { InputOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { clientSignal } from '../../../platform/http/client-signal.ts';
import type { TrainingParts } from '../validation/check-fine-tune.ts';
import { checkDiffusionTraining } from './check-diffusion-training.ts';

/** Validates a picture run for the wizard. Changes nothing. */
export async function validateDiffusionTraining(
  ctx: Context,
  parts: TrainingParts,
  { body }: InputOf<typeof endpoint>,
  { reply }: Pick<Http, 'reply'>,
): Promise<DiffusionValidation> {
  const asked = { cpu: await parts.runCpu(ctx.db), signal: clientSignal(reply) };
  return (await checkDiffusionTraining(ctx, parts, body, asked)).validation;
}
