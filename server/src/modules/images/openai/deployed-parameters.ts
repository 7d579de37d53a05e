import type { GenerationParameters } from '@bakehouse/contract/generations';
import type { GeneratorName } from '@bakehouse/contract/generators';
import { deployedFields, withFields } from '@bakehouse/contract/generators/parameters/parameters';
import { generators } from '@bakehouse/contract/generators/table';
import { readParameters } from '../start/read-parameters.ts';

type Given = Partial<Record<(typeof deployedFields)[number], number | null | undefined>>;

/** All parameters of a picture by a deployment, by the bounds and defaults of the form. Throws AppError 'invalid_request' with the field. Pure. */
export function deployedParameters(
  generator: Extract<GeneratorName, 'flux' | 'flux-kontext'>,
  given: Given,
): GenerationParameters {
  const chosen = deployedFields.flatMap((name) => {
    const value = given[name];
    return value === null || value === undefined ? [] : [[name, value] as const];
  });
  const form = withFields(generators[generator], deployedFields);
  return readParameters(form, Object.fromEntries(chosen), { prefix: '' });
}
