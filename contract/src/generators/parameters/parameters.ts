import { numberMessages, numberProblem } from '../../fields/number-field.ts';
import type { Generator, GeneratorField } from '../generator.ts';

/** A value of a generator's form. An empty seed is null in the API, and NaN in the form. */
export type ParameterValue = string | number | boolean | null;

/** Returns the values that are actually used, including those that other fields determine. */
export function effectiveValues<Value extends ParameterValue>(
  { fields }: Pick<Generator, 'fields'>,
  values: Record<string, Value>,
): Record<string, Value | number> {
  const fixed = fields.flatMap((field) => {
    const value = decidedValue(field, values);
    return value === undefined ? [] : [[field.name, value] as const];
  });
  return { ...values, ...Object.fromEntries(fixed) };
}

/** Returns the value of a field that another field determines. */
export function decidedValue(
  field: GeneratorField,
  values: Record<string, ParameterValue>,
): number | undefined {
  if (field.kind !== 'number' || !field.decidedBy) return undefined;
  return field.decidedBy.values[String(values[field.decidedBy.field])];
}

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function isEmpty(value: ParameterValue | undefined): boolean {
  return value === undefined || value === null || value === '';
}

/** True if the field has no effect: it is empty, or the field that it depends on is. */
export function isUnusedField(field: GeneratorField, values: Record<string, ParameterValue>): boolean {
  if (field.kind === 'lora') return isEmpty(values[field.name]);
  return field.kind === 'number' && field.onlyWith !== undefined && isEmpty(values[field.onlyWith]);
}

/** Returns the error of a field's value, if any. */
export function parameterProblem(field: GeneratorField, value: ParameterValue): string | undefined {
  const { label } = field;
  switch (field.kind) {
    case 'number':
      return typeof value === 'number' ? numberProblem(field, value) : numberMessages(field).type;
    case 'seed': {
      const asNumber = { label, min: 0, max: field.max, step: 1, default: 0 };
      if (value === null || Number.isNaN(value)) return undefined;
      return typeof value === 'number' ? numberProblem(asNumber, value) : numberMessages(asNumber).type;
    }
    case 'choice': {
      const known = field.options.map((option) => option.value);
      return known.some((option) => option === value)
        ? undefined
        : `${label} must be one of ${known.join(', ')}`;
    }
    case 'flag':
      return typeof value === 'boolean' ? undefined : `${label} must be true or false`;
    case 'lora':
      return isEmpty(value) || ID.test(String(value)) ? undefined : `${label} must be the id of a model`;
    case 'text':
      return typeof value === 'string' ? undefined : `${label} must be text`;
    case 'picture':
      return undefined;
  }
}

/** Fields of a deployment in OpenAI's images API, in addition to that API's own. */
export const deployedFields = ['seed', 'num_inference_steps', 'guidance_scale'] as const;
/** The fields for a LoRA. Only some providers support them. */
export const loraFields = ['lora', 'lora_scale'] as const;

/** A deployment generates one picture in its own size, and a video in the requested shape if possible. */
const notDeployed = ['aspect_ratio', 'n'];

/** Returns the form of a generator's deployment; `ofStarter` is true for a deployment of the starter. */
export function formOfDeployment(generator: Generator, { ofStarter = false } = {}): Generator {
  if (generator.makes === 'video') return generator;
  const isTaken = ({ name, isOfStarter }: GeneratorField) =>
    !notDeployed.includes(name) && (ofStarter || !isOfStarter);
  return { ...generator, fields: generator.fields.filter(isTaken) };
}

/** Returns the form of a generator's starter model. */
export function formOfStarter(generator: Generator): Generator {
  const { starter } = generator;
  return starter ? { ...generator, title: starter.title, fixed: starter.fixed } : generator;
}

/** How a service's list of fields says that it takes a mask. */
const MASK = 'mask';

/** Some services read a seed as a signed number, so limit it. */
const SERVICE_SEED_MAX = 2_147_483_647;

/**
 * Returns the form with only the fields that the service supports. Without a service, returns it unchanged.
 */
export function formOfService(generator: Generator, names: readonly string[] | undefined): Generator {
  if (names === undefined) return generator;
  // Skip the picture, which is sent separately.
  const isNeeded = (field: GeneratorField) => field.kind === 'picture' && !field.isOptional;
  const taken = generator.fields.filter((field) => isNeeded(field) || names.includes(field.name));
  return {
    ...generator,
    fields: taken.map((field) => {
      if (field.kind === 'seed') return { ...field, max: Math.min(field.max, SERVICE_SEED_MAX) };
      if (field.kind !== 'picture' || names.includes(MASK)) return field;
      const { takesMask: _, ...picture } = field;
      return picture;
    }),
  };
}

type Completed =
  | { values: Record<string, ParameterValue>; problem: null }
  | { values: null; problem: { field: string; message: string } };

/** Returns all parameters, including defaults and determined values, or the first error. */
export function completeParameters(generator: Generator, given: Record<string, ParameterValue>): Completed {
  // Skip the picture, which is sent separately.
  const fields = generator.fields.filter(({ kind }) => kind !== 'picture');
  const unknown = Object.keys(given).find((name) => fields.every((field) => field.name !== name));
  if (unknown !== undefined)
    return refused(unknown, `${generator.title} has no parameter ${unknown.slice(0, 80)}`);
  const values = effectiveValues(generator, { ...defaultsOf(generator), ...given });
  for (const field of fields) {
    const problem = isUnusedField(field, values)
      ? leftOutProblem(field, given)
      : parameterProblem(field, values[field.name] ?? null);
    if (problem !== undefined) return refused(field.name, problem);
  }
  const leftOut = fields.filter((field) => isUnusedField(field, values)).map(({ name }) => name);
  const counting = Object.entries(values).filter(([name]) => !leftOut.includes(name));
  return { values: { ...Object.fromEntries(counting), ...generator.fixed }, problem: null };
}

/** Returns the error if a field is set that has no effect. */
function leftOutProblem(field: GeneratorField, given: Record<string, ParameterValue>): string | undefined {
  if (field.kind !== 'number' || isEmpty(given[field.name])) return undefined;
  return `${field.label} needs ${field.onlyWith}`;
}

function refused(field: string, message: string): Completed {
  return { values: null, problem: { field, message } };
}

function defaultsOf({ fields }: Generator): Record<string, ParameterValue> {
  return Object.fromEntries(
    fields.flatMap((field): [string, ParameterValue][] => {
      if (field.kind === 'picture') return [];
      const isOpen = field.kind === 'seed' || field.kind === 'lora';
      return [[field.name, isOpen ? null : field.default]];
    }),
  );
}
