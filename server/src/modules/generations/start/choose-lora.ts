import type { GenerationParameters } from '@bakehouse/contract/generations';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { readLora } from '../../models/loras/read-lora.ts';
import type { ChosenProvider } from './choose-provider.ts';

/** Name of the form field in a call. */
const PARAM = 'parameters.lora';

/** Throws AppError 'invalid_request' if a LoRA is requested but the provider does not support LoRAs. */
export function refuseLora(chosen: ChosenProvider, { lora }: GenerationParameters): void {
  if (!lora || chosen.form.fields.some(({ kind }) => kind === 'lora')) return;
  const who = chosen.provider === 'upstream' ? chosen.upstream.title : chosen.form.title;
  throw new AppError('invalid_request', {
    publicMessage: `${who} takes no LoRA; FLUX and Kontext models on this server do`,
    param: PARAM,
  });
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
