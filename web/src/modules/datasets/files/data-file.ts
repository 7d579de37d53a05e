const endings = ['.csv', '.tsv', '.jsonl', '.ndjson', '.jsonlines', '.json', '.txt', '.md', '.parquet'];

/** Hint for the upload area of a dataset. */
export const DATA_FILES_HINT =
  'csv, jsonl, json, txt or parquet to train on; other files are stored unchanged';

/**
 * Returns true if a file of this name has rows to display; includes gzip files, which training does not read.
 */
export function hasRows(path: string): boolean {
  return isDataFile(path.replace(/(?<!\.parquet)\.gz$/i, ''));
}

/** Returns true if training reads a file of this name. */
export function isDataFile(path: string): boolean {
  const name = path.toLowerCase();
  // A card is not data.
  if (name.split('/').at(-1) === 'readme.md') return false;
  return endings.some((ending) => name.endsWith(ending));
}
