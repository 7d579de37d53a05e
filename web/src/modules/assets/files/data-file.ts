const endings = ['.csv', '.tsv', '.jsonl', '.ndjson', '.jsonlines', '.json', '.txt', '.md', '.parquet'];

/** What a dataset takes, for whoever drops files on it. */
export const DATA_FILES_HINT =
  'csv, jsonl, json, txt or parquet to train on; other files are kept as they are';

/** Whether a file with this name holds rows that can be shown. One packed with gzip does, and training does not read it. */
export function hasRows(path: string): boolean {
  return isDataFile(path.replace(/(?<!\.parquet)\.gz$/i, ''));
}

/** Whether training reads a file with this name. */
export function isDataFile(path: string): boolean {
  const name = path.toLowerCase();
  // A card describes the data, and is none of it.
  if (name.split('/').at(-1) === 'readme.md') return false;
  return endings.some((ending) => name.endsWith(ending));
}
