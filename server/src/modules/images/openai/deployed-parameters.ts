import type { GenerationParameters } from '@bakehouse/contract/generations';
import type { GeneratorName } from '@bakehouse/contract/generators';
import { atDeployment, deployedFields } from '@bakehouse/contract/generators/parameters/parameters';
import { generators } from '@bakehouse/contract/generators/table';
import { readParameters } from '../../generations/start/read-parameters.ts';

type Field = (typeof deployedFields)[number];
type Given = Partial<Record<Field, number | null | undefined>>;

/** Paris's form uses the original product's name. */
const parisNames: Partial<Record<string, string>> = { guidance_scale: 'cfg_scale' };

/**
 * Returns all parameters of a picture by a deployment, with the form's limits, and its defaults unless
 * `defaults` override them. Throws AppError 'invalid_request' with the field.
 */
export function deployedParameters(
  generator: Extract<GeneratorName, 'flux' | 'flux-kontext' | 'paris'>,
  given: Given,
  defaults: GenerationParameters = {},
): GenerationParameters {
  const nameOf = (field: Field) => (generator === 'paris' && parisNames[field]) || field;
  const chosen = deployedFields.flatMap((field) => {
    const value = given[field];
    return value === null || value === undefined ? [] : [[nameOf(field), value] as const];
  });
  const paramOf = (name: string) => deployedFields.find((field) => nameOf(field) === name) ?? name;
  const form = atDeployment(generators[generator]);
  return readParameters(form, { ...defaults, ...Object.fromEntries(chosen) }, { paramOf });
}
