import { numberProblem } from '../../fields/number-field.ts';
import type { GeneratorField } from '../generator.ts';
import { paris } from '../paris.ts';
import { effectiveValues, type ParameterValue, parameterProblem } from './parameters.ts';

/** What stands in place of a value that is none; the other fields fall back to their defaults. */
const fallbacks: Record<string, ParameterValue> = {
  num_inference_steps: 20,
  k: 2,
  sampling_strategy: 'top1',
  seed: null,
};

/**
 * The parameters that the calls of the Paris page draw with: what does not fit is put right as its form does, and
 * never refused. Pure.
 */
export function clampParis(asked: Record<string, unknown>): Record<string, ParameterValue> {
  const values = Object.fromEntries(
    paris.fields.map((field) => [field.name, clamp(field, asked[field.name])]),
  );
  return effectiveValues(paris, values);
}

function clamp(field: GeneratorField, asked: unknown): ParameterValue {
  const fallback = fallbackOf(field);
  if (field.kind !== 'number') {
    const value = isParameterValue(asked) ? asked : fallback;
    return parameterProblem(field, value) === undefined ? value : fallback;
  }
  if (typeof asked !== 'number' || !Number.isFinite(asked)) return fallback;
  const bounded = Math.min(field.max, Math.max(field.min, asked));
  return numberProblem(field, bounded) === undefined ? bounded : Math.round(bounded);
}

function fallbackOf(field: GeneratorField): ParameterValue {
  const own = fallbacks[field.name];
  if (own !== undefined) return own;
  return 'default' in field ? field.default : null;
}

function isParameterValue(value: unknown): value is ParameterValue {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}
