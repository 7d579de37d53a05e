import { clampNumber } from '@bakehouse/contract/fields/number-field';
import { type GenerationParameters, PROMPT_LENGTH_MAX } from '@bakehouse/contract/generations';
import type { Generator, GeneratorField } from '@bakehouse/contract/generators/generator';
import {
  decidedValue,
  effectiveValues,
  isUnusedField,
  parameterProblem,
} from '@bakehouse/contract/generators/parameters/parameters';
import { formatNumber } from '../../../lib/format/format-number.ts';
import type { FormField } from '../../../ui/form-fields.tsx';
import { lengthProblem } from '../../../ui/text-problem.ts';

/** Values of a generator's form; an empty number is NaN. */
export type FormValues = Record<string, string | number | boolean>;

/** Returns the initial values: the defaults, overridden by valid earlier values. */
export function initialValues({ fields }: Generator, typed: Record<string, unknown> = {}): FormValues {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const first = defaultOf(field);
      if (first === undefined) return [];
      const before = typed[field.name];
      return [[field.name, fits(field, before) ? before : first]];
    }),
  );
}

/** Returns the values after Reset. A field determined by another field keeps its typed value. */
export function resetValues(generator: Generator, values: FormValues): FormValues {
  const reset = initialValues(generator, generator.reset);
  const decided = generator.fields.filter((field) => decidedValue(field, reset) !== undefined);
  const kept = Object.fromEntries(decided.map(({ name }) => [name, values[name]]));
  return initialValues(generator, { ...generator.reset, ...kept });
}

/** Returns the values overridden by the given settings, except fields determined by another field. */
export function withSettings<Values extends Record<string, unknown>>(
  { fields }: Generator,
  typed: Values,
  settings: GenerationParameters,
): Values {
  const brought = fields.filter(
    (field) => settings[field.name] !== undefined && decidedValue(field, settings) === undefined,
  );
  return { ...typed, ...Object.fromEntries(brought.map(({ name }) => [name, settings[name]])) };
}

/**
 * Returns the values after a number field is blurred: clamped, or replaced by the fallback if empty. A seed
 * may stay empty.
 */
export function clampedValues({ fields }: Generator, values: FormValues): FormValues {
  const clamped = fields.flatMap((field) => {
    const value = values[field.name];
    if (typeof value !== 'number') return [];
    const isThere = !Number.isNaN(value);
    if (field.kind === 'number')
      return [[field.name, isThere ? clampNumber(field, value) : (field.fallback ?? field.default)]];
    if (field.kind === 'seed' && isThere)
      return [[field.name, clampNumber({ min: 0, max: field.max, step: 1 }, value)]];
    return [];
  });
  return { ...values, ...Object.fromEntries(clamped) };
}

/** Returns a sentence for each number that clamping changes, by field. */
export function correctionsOf(generator: Generator, values: FormValues): Partial<Record<string, string>> {
  const clamped = clampedValues(generator, values);
  const changed = generator.fields.flatMap((field) => {
    const [from, to] = [values[field.name], clamped[field.name]];
    if (typeof from !== 'number' || typeof to !== 'number' || Object.is(from, to)) return [];
    return [[field.name, correction(field, { from, to })]];
  });
  return Object.fromEntries(changed);
}

function correction(field: GeneratorField, { from, to }: { from: number; to: number }): string {
  if (Number.isNaN(from)) return `It was empty and was set to ${formatNumber(to)}.`;
  const [before, after] = [formatNumber(from), formatNumber(to)];
  const min = 'min' in field ? field.min : 0;
  if (from < min) return `${before} is too low and was changed to ${after}.`;
  if ('max' in field && from > field.max) return `${before} is too high and was changed to ${after}.`;
  return `${before} was rounded to ${after}.`;
}

/** Returns the request parameters; without a seed the server chooses one. */
export function requestParameters(generator: Generator, values: FormValues): GenerationParameters {
  const asked = generator.fields.filter((field) => !isUnusedField(field, values)).map(({ name }) => name);
  return Object.fromEntries(
    Object.entries(effectiveValues(generator, clampedValues(generator, values))).filter(
      ([name, value]) => !Number.isNaN(value) && asked.includes(name),
    ),
  );
}

/**
 * Returns the fields to render. A field determined by another field is disabled. The LoRA fields are in
 * `lora-field.tsx`.
 */
export function visibleFields({ fields }: Generator, values: FormValues): FormField<string>[] {
  return fields.flatMap((field): FormField<string>[] => {
    switch (field.kind) {
      case 'number': {
        if (field.onlyWith !== undefined) return [];
        if (decidedValue(field, values) !== undefined) return [{ ...field, disabled: true }];
        return [{ ...field, help: withRange(field) }];
      }
      case 'seed': {
        const number = { ...field, kind: 'number', min: 0, step: 1, default: Number.NaN } as const;
        return [{ ...number, help: withRange(number) }];
      }
      case 'picture':
      case 'lora':
        return [];
      default:
        return [field];
    }
  });
}

/** Returns true if the field is visible before "Advanced" is opened. */
export function isAlwaysVisible(field: GeneratorField): boolean {
  if (field.isAdvanced || field.kind === 'picture' || field.kind === 'lora') return false;
  return field.kind !== 'number' || field.onlyWith === undefined;
}

/** Returns the help text of a number with its bounds. */
export function withRange({ help, min, max }: { help?: string; min: number; max: number }): string {
  // Non-breaking spaces keep the range on one line.
  const range = ['From', formatNumber(min), 'to', `${formatNumber(max)}.`].join('\u00a0');
  return help ? `${help} ${range}` : range;
}

/** Returns the form's problems by field. */
export function problemsOf(
  generator: Generator,
  { prompt, values, source }: { prompt: string; values: FormValues; source: object | null },
): Partial<Record<string, string>> {
  const picture = generator.fields.find((field) => field.kind === 'picture' && !field.isOptional);
  const wrong = promptProblem(prompt);
  return {
    ...(picture && !source && { [picture.name]: 'Please choose a picture' }),
    ...(wrong !== undefined && { prompt: wrong }),
    ...parameterProblems(generator, values),
  };
}

function promptProblem(prompt: string): string | undefined {
  return prompt.trim() === '' ? 'Please enter a prompt' : lengthProblem('Prompt', prompt, PROMPT_LENGTH_MAX);
}

/** Returns the settings' problems by field. */
export function parameterProblems(generator: Generator, values: FormValues): Partial<Record<string, string>> {
  const found: Record<string, string> = {};
  // Numbers are corrected, not rejected.
  const effective = effectiveValues(generator, clampedValues(generator, values));
  for (const field of generator.fields) {
    const value = effective[field.name];
    const problem = value === undefined ? undefined : parameterProblem(field, value);
    if (problem) found[field.name] = problem;
  }
  return found;
}

function defaultOf(field: GeneratorField): string | number | boolean | undefined {
  if (field.kind === 'picture') return undefined;
  if (field.kind === 'lora') return '';
  return field.kind === 'seed' ? Number.NaN : field.default;
}

function fits(field: GeneratorField, value: unknown): value is string | number | boolean {
  if (field.kind === 'choice') return field.options.some((option) => option.value === value);
  return typeof value === typeof defaultOf(field);
}
