import type { GenerationParameters } from '@bakehouse/contract/generations';
import type { Generator } from '@bakehouse/contract/generators/generator';
import { completeParameters } from '@bakehouse/contract/generators/parameters/parameters';
import { AppError } from '../../../platform/errors.ts';

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
  throw new AppError('invalid_request', {
    publicMessage: problem.message,
    param: paramOf(problem.field),
  });
}
