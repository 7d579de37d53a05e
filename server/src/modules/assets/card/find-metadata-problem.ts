import {
  frontMatterOf,
  isLongMetadata,
  METADATA_BYTES_MAX,
  parseCardData,
  parseMetadata,
} from './read-card-data.ts';

/** What is wrong with the metadata of a card, as a sentence; null where nothing is, or it has none. Pure. */
export function findMetadataProblem(card: string): string | null {
  const metadata = frontMatterOf(card);
  if (metadata === null) return null;
  if (isLongMetadata(metadata)) return sentence(`it may have at most ${METADATA_BYTES_MAX / 1024} KB`);
  if (parseCardData(card) !== null) return null;
  try {
    // Comments alone say nothing, and are not wrong.
    if (parseMetadata(metadata) === null) return null;
    return sentence('it has to be names and values');
  } catch (error) {
    return sentence(error instanceof Error ? (error.message.split('\n')[0] ?? '') : 'it is not YAML');
  }
}

function sentence(reason: string): string {
  return `The metadata of the card cannot be read: ${reason}`;
}
