import type { GeneratorName } from '@bakehouse/contract/generators';
import type { Generator, Quality } from '@bakehouse/contract/generators/generator';
import { decidedValue, effectiveValues } from '@bakehouse/contract/generators/parameters/parameters';
import { generators } from '@bakehouse/contract/generators/table';
import { type FormValues, initialValues } from './form-values.ts';

/** Returns the quality presets; empty if the provider has no steps. */
export function qualitiesOf({ fields, starter }: Generator, isStarter: boolean): readonly Quality[] {
  if (isStarter && starter) return starter.qualities;
  const steps = fields.find(({ name }) => name === STEPS);
  if (steps?.kind !== 'number') return [];
  return [
    { label: 'Draft', settings: { [STEPS]: Math.round(steps.default / 2) } },
    { label: 'Fine', settings: {} },
  ];
}

/**
 * Returns the form's values: earlier values over the starter's defaults, if it generates, over the form's
 * defaults.
 */
export function openingValues(
  name: GeneratorName,
  isStarter: boolean,
  typed: Record<string, unknown>,
): FormValues {
  const generator: Generator = generators[name];
  const { starter } = generator;
  const own = isStarter ? starter?.qualities.find(({ label }) => label === starter.opensOn) : undefined;
  return initialValues(generator, { ...own?.settings, ...typed });
}

/** Returns the values with a quality's settings; fields determined by another field keep their typed value. */
export function withQuality(
  generator: Generator,
  values: FormValues,
  quality: Quality,
  qualities: readonly Quality[],
): FormValues {
  const set = settingsOf(generator, quality, qualities);
  const free = generator.fields.filter(
    (field) => set[field.name] !== undefined && decidedValue(field, set) === undefined,
  );
  return { ...values, ...Object.fromEntries(free.map(({ name }) => [name, set[name]])) } as FormValues;
}

/** Returns the quality that matches the settings, if any. */
export function qualityOf(
  generator: Generator,
  values: FormValues,
  qualities: readonly Quality[],
): Quality | undefined {
  const held = effectiveValues(generator, values);
  return qualities.find((quality) => {
    const set = effectiveValues(generator, settingsOf(generator, quality, qualities));
    return Object.entries(set).every(([name, value]) => held[name] === value);
  });
}

/** Returns the settings in words: '20 steps, guidance 4, 2 experts'. */
export function settingsInWords(generator: Generator, values: FormValues): string {
  const { [STEPS]: steps, cfg_scale, guidance_scale = cfg_scale, k } = effectiveValues(generator, values);
  const has = (name: string) => generator.fields.some((field) => field.name === name);
  const guided = has('guidance_scale') || has('cfg_scale');
  return [
    `${steps} steps`,
    guided && `guidance ${guidance_scale}`,
    has('k') && (k === 1 ? '1 expert' : `${k} experts`),
  ]
    .filter(Boolean)
    .join(', ');
}

const STEPS = 'num_inference_steps';

/** Returns this quality's values for every field that any quality sets. */
function settingsOf(
  { fields }: Generator,
  { settings }: Quality,
  qualities: readonly Quality[],
): Record<string, string | number> {
  const names = new Set(qualities.flatMap((one) => Object.keys(one.settings)));
  return Object.fromEntries(
    fields.flatMap((field) =>
      names.has(field.name) && (field.kind === 'number' || field.kind === 'choice')
        ? [[field.name, settings[field.name] ?? field.default]]
        : [],
    ),
  );
}
