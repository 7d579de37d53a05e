import type { GenerationParameters } from '@bakehouse/contract/generations';
import { generators } from '@bakehouse/contract/generators/table';
import type { editFields } from '@bakehouse/contract/kontext';
import type * as z from 'zod';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { readParameters } from '../../generations/start/parameters.ts';

type Fields = z.output<typeof editFields>;

/** Parameters of the original product's edit call, except the picture and the model. */
export type Edit = Pick<Fields, 'prompt' | 'return_format' | 'skip_integrity_check'> & {
  parameters: GenerationParameters;
};

/** Throws AppError 'forbidden' for another user's id, and 'invalid_request' with the invalid field. */
export function readEdit(
  { caller }: Pick<Context, 'caller'>,
  { prompt, user_id: userId, return_format, skip_integrity_check, ...asked }: Fields,
): Edit {
  // The server's own check does not see the parts of a form.
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
