import type { GenerationParameters } from '@bakehouse/contract/generations';
import type { GeneratorName } from '@bakehouse/contract/generators';
import { completeParameters } from '@bakehouse/contract/generators/parameters/parameters';
import { generators } from '@bakehouse/contract/generators/table';
import { AppError } from '../../../platform/errors.ts';

/** All parameters of a generation. Throws AppError 'invalid_request' with the field that does not fit; `prefix` is what it stands in. */
export function readParameters(
  generator: GeneratorName,
  given: GenerationParameters,
  { prefix = 'parameters.' }: { prefix?: string } = {},
): GenerationParameters {
  const { values, problem } = completeParameters(generators[generator], given);
  if (problem === null) return values;
  throw new AppError('invalid_request', {
    publicMessage: problem.message,
    param: `${prefix}${problem.field}`,
  });
}
