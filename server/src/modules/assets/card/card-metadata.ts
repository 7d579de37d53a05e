import type { Asset } from '@bakehouse/contract/assets';
import type { CardData } from './parse-card.ts';

/** Maximum names per field. More names stay in the card only. */
const NAMES_MAX = 50;
const NAME_CHARS_MAX = 200;

/** Returns the fields of a card's metadata that pages show. */
export function toCardMetadata(data: CardData | null): Asset['card_metadata'] {
  if (data === null) return null;
  return {
    license: namesOf(data.license_name ?? data.license)[0] ?? null,
    languages: namesOf(data.language),
    tags: namesOf(data.tags),
    base_models: namesOf(data.base_model),
    datasets: namesOf(data.datasets),
    pipeline_tag: namesOf(data.pipeline_tag)[0] ?? null,
    library_name: namesOf(data.library_name)[0] ?? null,
  };
}

const tagFields: [field: string, prefix: string][] = [
  ['tags', ''],
  ['pipeline_tag', ''],
  ['library_name', ''],
  ['license', 'license:'],
  ['language', ''],
  ['language', 'language:'],
  ['base_model', 'base_model:'],
  ['datasets', 'dataset:'],
  ['task_categories', 'task_categories:'],
  ['size_categories', 'size_categories:'],
];

/** The fields of a card that lists show and filter by. */
export type CardFields = { card_tags: string[]; pipeline_tag: string | null; library_name: string | null };

/** Returns the tags that hub clients filter by, which include other fields of the card. */
export function toCardFields(data: CardData | null): CardFields {
  const tags = tagFields.flatMap(([field, prefix]) => namesOf(data?.[field]).map((name) => prefix + name));
  return {
    card_tags: [...new Set(tags)],
    pipeline_tag: namesOf(data?.pipeline_tag)[0] ?? null,
    library_name: namesOf(data?.library_name)[0] ?? null,
  };
}

/** Returns the unique names in a name or a list of names. */
function namesOf(value: unknown): string[] {
  const names = (Array.isArray(value) ? (value as unknown[]) : [value])
    .filter((name) => typeof name === 'string')
    .map((name) => name.trim().slice(0, NAME_CHARS_MAX))
    .filter(Boolean);
  return [...new Set(names)].slice(0, NAMES_MAX);
}
