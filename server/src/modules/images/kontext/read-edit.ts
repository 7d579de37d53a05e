import type { GenerationParameters } from '@bakehouse/contract/generations';
import { generators } from '@bakehouse/contract/generators/table';
import type { editFields } from '@bakehouse/contract/kontext';
import type * as z from 'zod';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { readParameters } from '../../generations/start/read-parameters.ts';

type Fields = z.output<typeof editFields>;

/** What an edit call of the original product asks for, beside the picture and the model. */
export type Edit = Pick<Fields, 'prompt' | 'return_format' | 'skip_integrity_check'> & {
  parameters: GenerationParameters;
};

/** Throws AppError 'forbidden' for another's user id, and 'invalid_request' with the field that does not fit. */
export function readEdit(
  { caller }: Pick<Context, 'caller'>,
  { prompt, user_id: userId, return_format, skip_integrity_check, ...asked }: Fields,
): Edit {
  // A form's parts are read here: the server has not seen them.
  if (userId !== undefined && userId !== caller.userId)
    throw new AppError('forbidden', { publicMessage: 'This belongs to another user', param: 'user_id' });
  const { guidance_scale, num_inference_steps, seed } = asked;
  const chosen = Object.entries({ guidance_scale, num_inference_steps, seed });
  const given = Object.fromEntries(
    chosen.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
  );
  const parameters = readParameters(generators['flux-kontext'], given, { paramOf: (field) => field });
  return { prompt, return_format, skip_integrity_check, parameters };
}
