import type { Generation } from '@bakehouse/contract/generations';
import type { GeneratorField } from '@bakehouse/contract/generators/generator';
import { generators } from '@bakehouse/contract/generators/table';

export type NamedValue = { name: string; value: string };

/** Returns all parameters with their form labels; a LoRA is shown as a model (`lora_revision`). */
export function generationParameters({
  generator,
  parameters,
  seed,
}: Pick<Generation, 'generator' | 'parameters' | 'seed'>): NamedValue[] {
  const { fields } = generators[generator];
  const rows = fields.flatMap((field): NamedValue[] => {
    if (field.kind === 'seed' || field.kind === 'picture' || field.kind === 'lora') return [];
    const value = parameters[field.name];
    return value === undefined || value === null ? [] : [{ name: field.label, value: textOf(field, value) }];
  });
  return seed === null ? rows : [...rows, { name: 'Seed', value: String(seed) }];
}

type Compared = Parameters<typeof generationParameters>[0] &
  Pick<Generation, 'prompt' | 'title' | 'model' | 'model_revision' | 'lora_revision'>;

/** Returns the inputs in which the generations differ, with each one's value. */
export function differences(all: readonly Compared[]): { name: string; values: string[] }[] {
  const columns = all.map((generation) => [...originOf(generation), ...generationParameters(generation)]);
  const names = [...new Set(columns.flatMap((column) => column.map(({ name }) => name)))];
  return names
    .map((name) => ({
      name,
      values: columns.map((column) => column.find((row) => row.name === name)?.value ?? '–'),
    }))
    .filter(({ values }) => new Set(values).size > 1);
}

function originOf({
  prompt,
  title,
  model,
  model_revision: generatedBy,
  parameters,
  lora_revision: lora,
}: Compared): NamedValue[] {
  return [
    { name: 'Prompt', value: prompt },
    { name: 'Generator', value: title },
    { name: 'Model', value: generatedBy ? `${model}, version ${generatedBy.number}` : model },
    ...(parameters.lora ? [{ name: 'LoRA', value: loraName(lora) }] : []),
  ];
}

function loraName(lora: Generation['lora_revision']): string {
  return lora ? `${lora.title}, version ${lora.number}` : 'deleted';
}

function textOf(field: GeneratorField, value: string | number | boolean): string {
  if (field.kind === 'choice')
    return field.options.find((option) => option.value === value)?.label ?? String(value);
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  return value === '' ? '–' : String(value);
}
