import { METADATA } from '@bakehouse/contract/gallery';
import { AppError } from '../../../platform/errors.ts';
import type { Picture } from './list-pictures.ts';

/**
 * Returns the metadata file with these pictures added, and the pictures that the dataset lacks (the file, its
 * line, or both). Throws AppError 'conflict' if the metadata file has an incompatible layout.
 */
export function addLines(
  { metadata, paths }: { metadata: string; paths: ReadonlySet<string> },
  pictures: readonly Picture[],
): { metadata: string; added: Picture[] } {
  const captioned = new Set(
    metadata
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map(nameIn),
  );
  // A line may exist without its file, e.g. in metadata that was uploaded first.
  const added = pictures.filter(({ name }) => !captioned.has(name) || !paths.has(name));
  const lines = added
    .filter(({ name }) => !captioned.has(name))
    .map(({ name, row }) => `${oneLine({ file_name: name, text: row.prompt })}\n`);
  const before = metadata === '' || metadata.endsWith('\n') ? metadata : `${metadata}\n`;
  return { metadata: before + lines.join(''), added };
}

/** Escapes three characters that Python treats as line ends. */
function oneLine(row: object): string {
  return JSON.stringify(row).replace(
    /[\u0085\u2028\u2029]/g,
    (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function nameIn(line: string, index: number): unknown {
  const row = parsed(line);
  if (typeof row !== 'object' || row === null || !('file_name' in row))
    throw cannotStand(`line ${index + 1} is no object with a file_name`);
  if ('source' in row && row.source !== null) throw cannotStand('it describes edits, each with its source');
  return row.file_name;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

function cannotStand(why: string): AppError {
  return new AppError('conflict', {
    publicMessage: `No pictures can be added to the dataset’s ${METADATA}: ${why}`,
    param: 'dataset_id',
  });
}
