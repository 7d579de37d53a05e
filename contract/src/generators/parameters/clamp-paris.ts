import { clampNumber } from '../../fields/number-field.ts';
import type { GeneratorField } from '../generator.ts';
import { paris } from '../paris.ts';
import { effectiveValues, type ParameterValue, parameterProblem } from './parameters.ts';

/** Values that replace invalid choices. Other fields define their own replacement, or use their default. */
const fallbacks: Record<string, ParameterValue> = {
  sampling_strategy: 'top1',
  seed: null,
};

/** Returns the parameters for the Paris page's calls. Corrects invalid values, as its form does. */
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

/** Text is accepted too, because forms and scripts send numbers as text. */
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
