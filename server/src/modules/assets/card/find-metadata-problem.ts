import { parse } from 'yaml';
import { ALIASES_MAX, frontMatterOf, parseCardData } from './read-card-data.ts';

/** What is wrong with the metadata of a card, as a sentence; null where nothing is, or it has none. Pure. */
export function findMetadataProblem(card: string): string | null {
  const metadata = frontMatterOf(card);
  if (metadata === null || parseCardData(card) !== null) return null;
  try {
    // Comments alone say nothing, and are not wrong.
    if (parse(metadata, { maxAliasCount: ALIASES_MAX }) === null) return null;
    return sentence('it has to be names and values');
  } catch (error) {
    return sentence(error instanceof Error ? (error.message.split('\n')[0] ?? '') : 'it is not YAML');
  }
}

function sentence(reason: string): string {
  return `The metadata of the card cannot be read: ${reason}`;
}
