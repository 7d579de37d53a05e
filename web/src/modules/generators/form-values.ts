import { numberProblem } from '@bakehouse/contract/fields/number-field';
import type { GenerationParameters } from '@bakehouse/contract/generations';
import type { Generator, GeneratorField } from '@bakehouse/contract/generators/generator';
import type { FormField } from '../../ui/form-fields.tsx';

/** What stands in a generator's form; a number that is not there is NaN. */
export type FormValues = Record<string, string | number | boolean>;

/** The form as it begins: the defaults, and over them what was typed before, as far as it fits. */
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

/** The form after Reset. */
export function resetValues(generator: Generator): FormValues {
  return initialValues(generator, generator.reset);
}

/** What was typed, with the settings that were brought along over it; what another field decides is not typed. */
export function withSettings(
  generator: Generator,
  values: FormValues,
  settings: GenerationParameters,
): FormValues {
  const decides = (field: GeneratorField) => decided(field, settings as FormValues) !== undefined;
  const typed = generator.fields.filter((field) => settings[field.name] !== undefined && !decides(field));
  return initialValues(generator, {
    ...values,
    ...Object.fromEntries(typed.map(({ name }) => [name, settings[name]])),
  });
}

/** What the server is asked for; a seed that is not there is its choice. */
export function requestParameters(generator: Generator, values: FormValues): GenerationParameters {
  return Object.fromEntries(
    Object.entries(effectiveValues(generator, values)).filter(([, value]) => !Number.isNaN(value)),
  );
}

/** The fields as the form shows them: what another field decides is not for the person to change. */
export function shownFields({ fields }: Generator, values: FormValues): FormField<string>[] {
  return fields.flatMap((field): FormField<string>[] => {
    switch (field.kind) {
      case 'number':
        return [{ ...field, disabled: decided(field, values) !== undefined }];
      case 'seed':
        return [{ ...field, kind: 'number', min: 0, step: 1, default: Number.NaN }];
      case 'picture':
        return [];
      default:
        return [field];
    }
  });
}

/** The values that hold, those that other fields decide included. What was typed in their place comes back with the choice. */
export function effectiveValues({ fields }: Generator, values: FormValues): FormValues {
  const fixed = fields.flatMap((field) => {
    const value = field.kind === 'number' ? decided(field, values) : undefined;
    return value === undefined ? [] : [[field.name, value]];
  });
  return { ...values, ...Object.fromEntries(fixed) };
}

/** What is wrong, by field. */
export function problemsOf(
  generator: Generator,
  prompt: string,
  values: FormValues,
): Partial<Record<string, string>> {
  const found: Record<string, string> = {};
  if (prompt.trim() === '') found.prompt = 'Please enter a prompt';
  const effective = effectiveValues(generator, values);
  for (const field of generator.fields) {
    const value = effective[field.name];
    if (typeof value !== 'number') continue;
    const problem =
      field.kind === 'number'
        ? numberProblem(field, value)
        : field.kind === 'seed' && !Number.isNaN(value)
          ? numberProblem({ ...field, min: 0, step: 1, default: 0 }, value)
          : undefined;
    if (problem) found[field.name] = problem;
  }
  return found;
}

function decided(field: GeneratorField, values: FormValues): number | undefined {
  if (field.kind !== 'number' || !field.decidedBy) return undefined;
  return field.decidedBy.values[String(values[field.decidedBy.field])];
}

function defaultOf(field: GeneratorField): string | number | boolean | undefined {
  if (field.kind === 'picture') return undefined;
  return field.kind === 'seed' ? Number.NaN : field.default;
}

function fits(field: GeneratorField, value: unknown): value is string | number | boolean {
  if (field.kind === 'choice') return field.options.some((option) => option.value === value);
  return typeof value === typeof defaultOf(field);
}
