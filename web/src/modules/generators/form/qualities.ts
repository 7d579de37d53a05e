import type { GeneratorName } from '@bakehouse/contract/generators';
import type { Generator, Quality } from '@bakehouse/contract/generators/generator';
import { decidedValue, effectiveValues } from '@bakehouse/contract/generators/parameters/parameters';
import { generators } from '@bakehouse/contract/generators/table';
import { type FormValues, initialValues } from './form-values.ts';

/** What is chosen among before any setting is turned: nothing where whoever generates takes no steps. Pure. */
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
 * What stands in a generator's form: what was typed, over the starter's own defaults where that generates, over those of
 * the form. Pure.
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

/** The settings with those of the quality; what another field decides stays as it was typed. Pure. */
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

/** The quality that the settings are, if they are one. Pure. */
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

/** The settings in words: '20 steps, guidance 4, 2 experts'. Pure. */
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

/** All that any quality sets, as this one has it. */
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
