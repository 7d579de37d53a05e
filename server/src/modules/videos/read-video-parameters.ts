import type { GenerationParameters } from '@bakehouse/contract/generations';
import type { VideoGenerator } from '@bakehouse/contract/generators';
import type { Generator, GeneratorField } from '@bakehouse/contract/generators/generator';
import { completeParameters } from '@bakehouse/contract/generators/parameters/parameters';
import { generators } from '@bakehouse/contract/generators/table';
import { refused } from '../../platform/errors.ts';
import type { VideoAsked } from '../generations/queries.ts';

/** Veo supports only this aspect ratio. */
const VEO_RATIO = '16:9';

/**
 * Returns the parameters of a call for the provider's form. Omits fields that only other providers support.
 * An unknown quality falls back to the generator's default. Throws AppError 'invalid_request' with the
 * invalid field.
 */
export function readVideoParameters(
  generator: VideoGenerator,
  form: Generator,
  asked: VideoAsked,
): GenerationParameters {
  if (generator === 'veo' && ![undefined, VEO_RATIO].includes(asked.aspect_ratio))
    throw refused('aspect_ratio', `aspect_ratio must be ${VEO_RATIO} for ${generators.veo.title}`);
  const whole: Generator = generators[generator];
  const given = Object.fromEntries(
    whole.fields.flatMap((field) => {
      const value = valueOf(field, asked);
      return value === undefined ? [] : [[field.name, value] as const];
    }),
  );
  const { values, problem } = completeParameters(whole, given);
  if (problem) throw refused(problem.field, problem.message);
  const taken = form.fields.map(({ name }) => name);
  return Object.fromEntries(Object.entries(values).filter(([name]) => taken.includes(name)));
}

function valueOf(field: GeneratorField, asked: VideoAsked): string | number | boolean | undefined {
  const value = asked[field.name as keyof VideoAsked];
  if (field.name === 'duration' && value !== undefined) return String(value);
  const isKnown = field.kind !== 'choice' || field.options.some((option) => option.value === value);
  return field.name === 'quality' && !isKnown ? undefined : value;
}
