import type { GenerationParameters } from '@bakehouse/contract/generations';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { readLora } from '../../models/loras/read-lora.ts';
import type { ChosenProvider } from './choose-provider.ts';

/** The field of the form, as a call has it. */
const PARAM = 'parameters.lora';

/** Throws AppError 'invalid_request' where a LoRA is asked for and the provider takes none. Pure. */
export function refuseLora(chosen: ChosenProvider, { lora }: GenerationParameters): void {
  if (!lora || chosen.form.fields.some(({ kind }) => kind === 'lora')) return;
  const who = chosen.provider === 'upstream' ? chosen.upstream.title : chosen.form.title;
  throw new AppError('invalid_request', {
    publicMessage: `${who} takes no LoRA; FLUX and Kontext models on this server do`,
    param: PARAM,
  });
}

/** The revision of the LoRA that the parameters name, which the picture keeps to; null where they name none. Throws what `readLora` throws. */
export async function chooseLora(
  { db, caller }: Pick<Context, 'db' | 'caller'>,
  { lora }: GenerationParameters,
): Promise<string | null> {
  if (typeof lora !== 'string') return null;
  return (await readLora(db, { assetId: lora, userId: caller.userId, param: PARAM })).revisionId;
}
