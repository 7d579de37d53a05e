import { imageDeploymentKinds } from '@bakehouse/contract/deployments/images';
import type { GenerationParameters } from '@bakehouse/contract/generations';
import type { GeneratorName } from '@bakehouse/contract/generators';
import type { Generator } from '@bakehouse/contract/generators/generator';
import { completeParameters } from '@bakehouse/contract/generators/parameters/parameters';
import type { Context } from '../../../platform/context.ts';
import { invalidParam, notFoundError } from '../../../platform/errors.ts';
import { findNamedImageDeployment } from '../../deployments/images/image-deployments.ts';
import { readLora } from '../../models/loras/read-lora.ts';
import { findServingStarter } from '../generators/generators.ts';
import { deploymentsFor } from '../generators/local-generators.ts';
import type { ChosenProvider } from './choose-provider.ts';

/** Name of the form field in a call. */
const PARAM = 'parameters.lora';

/**
 * Returns all parameters of a generation by this form. Throws AppError 'invalid_request' with the invalid
 * field; `paramOf` maps it to the call's name for it.
 */
export function readParameters(
  form: Generator,
  given: GenerationParameters,
  { paramOf = (field) => `parameters.${field}` }: { paramOf?: (field: string) => string } = {},
): GenerationParameters {
  const { values, problem } = completeParameters(form, given);
  if (problem === null) return values;
  throw invalidParam(paramOf(problem.field), problem.message);
}

/** Throws AppError 'invalid_request' if a LoRA is requested but the provider does not support LoRAs. */
export function assertLoraSupported(chosen: ChosenProvider, { lora }: GenerationParameters): void {
  if (!lora || chosen.form.fields.some(({ kind }) => kind === 'lora')) return;
  const who = chosen.provider === 'upstream' ? chosen.upstream.title : chosen.form.title;
  throw invalidParam(PARAM, `${who} does not support LoRAs; FLUX and Kontext models on this server do`);
}

/**
 * Returns the revision of the requested LoRA, which pins it for this picture; null if no LoRA is requested.
 * Throws the errors of `readLora`.
 */
export async function chooseLora(
  { db, caller }: Pick<Context, 'db' | 'caller'>,
  { lora }: GenerationParameters,
): Promise<string | null> {
  if (typeof lora !== 'string') return null;
  return (await readLora(db, { assetId: lora, userId: caller.userId, param: PARAM })).revisionId;
}

type Named = { generator: GeneratorName; model?: string | undefined; service?: string | undefined };

/**
 * Resolves a named model. Throws AppError 'not_found' if the model is neither a live deployment of the caller
 * for the generator nor its starter, and 'invalid_request' if both a service and a model are named.
 */
export async function resolveNamedModel<Asked extends Named>(ctx: Context, asked: Asked): Promise<Asked> {
  const { generator, model, service } = asked;
  if (model === undefined) return asked;
  if (service !== undefined) throw invalidParam('service', 'Send either model or service');
  const deployed = await findNamedImageDeployment(ctx, model, imageDeploymentKinds);
  if (deployed && deploymentsFor(generator).includes(deployed.kind)) return asked;
  if ((await findServingStarter(ctx.db, generator))?.modelName === model) return asked;
  throw notFoundError(`You have no deployment named '${model}' that serves ${generator}`, { param: 'model' });
}
