const endings = ['.csv', '.tsv', '.jsonl', '.ndjson', '.jsonlines', '.json', '.txt', '.md', '.parquet'];

/** What a dataset takes, for whoever drops files on it. */
export const DATA_FILES_HINT =
  'csv, jsonl, json, txt or parquet to train on; other files are kept as they are';

/** Whether a file with this name holds rows: its first ones can be shown, and training reads it. */
export function isDataFile(path: string): boolean {
  const name = path.toLowerCase();
  // A card describes the data, and is none of it.
  if (name.split('/').at(-1) === 'readme.md') return false;
  return endings.some((ending) => name.endsWith(ending));
}
