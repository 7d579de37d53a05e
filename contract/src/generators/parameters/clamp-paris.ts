import { clampNumber } from '../../fields/number-field.ts';
import type { GeneratorField } from '../generator.ts';
import { paris } from '../paris.ts';
import { effectiveValues, type ParameterValue, parameterProblem } from './parameters.ts';

/** Replacements for invalid choices; other fields define their own or fall back to their defaults. */
const fallbacks: Record<string, ParameterValue> = {
  sampling_strategy: 'top1',
  seed: null,
};

/**
 * Returns the parameters of the Paris page's calls. Invalid values are corrected as in its form and never
 * refused.
 */
export function clampParis(asked: Record<string, unknown>): Record<string, ParameterValue> {
  const values = Object.fromEntries(
    paris.fields.map((field) => [field.name, clamp(field, asked[field.name])]),
  );
  return effectiveValues(paris, values);
}

function clamp(field: GeneratorField, sent: unknown): ParameterValue {
  const fallback = fallbackOf(field);
  const asked = field.kind === 'number' || field.kind === 'seed' ? asNumber(sent) : sent;
  if (field.kind !== 'number') {
    const value = isParameterValue(asked) ? asked : fallback;
    return parameterProblem(field, value) === undefined ? value : fallback;
  }
  return typeof asked === 'number' && Number.isFinite(asked) ? clampNumber(field, asked) : fallback;
}

/** Forms and scripts send numbers as text too. */
function asNumber(sent: unknown): unknown {
  return typeof sent === 'string' && sent.trim() !== '' ? Number(sent) : sent;
}

function fallbackOf(field: GeneratorField): ParameterValue {
  const own = fallbacks[field.name];
  if (own !== undefined) return own;
  if (field.kind === 'number' && field.fallback !== undefined) return field.fallback;
  return 'default' in field ? field.default : null;
}

function isParameterValue(value: unknown): value is ParameterValue {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}
