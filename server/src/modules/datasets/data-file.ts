/** Name of the file, in a confined program's folder, with the rows that training's reader has written. */
export const ROWS_FILE = 'rows.parquet';

/** Alternative extensions of the same format. Keep in step with `data/rows.py` of the runtime. */
const ALIASES = new Map([
  ['ndjson', 'jsonl'],
  ['jsonlines', 'jsonl'],
  ['md', 'txt'],
]);
const DATA_ENDINGS = ['csv', 'tsv', 'jsonl', 'ndjson', 'jsonlines', 'json', 'txt', 'md', 'parquet'];

/** Pattern of data files' paths. Also used in PostgreSQL. */
export const DATA_FILE_PATTERN = `\\.(${DATA_ENDINGS.join('|')})(\\.gz)?$`;
const dataFile = new RegExp(DATA_FILE_PATTERN, 'i');

/** Returns the file's extension in lower case, with aliases resolved. */
export function extensionOf(file: string): string {
  const ending = file.split('.').at(-1)?.toLowerCase() ?? '';
  return ALIASES.get(ending) ?? ending;
}

/** True if the name ends in `.gz`. */
export function isPacked(file: string): boolean {
  return unpackedName(file) !== file;
}

/** `data.csv.gz` -> `data.csv`. */
export function unpackedName(file: string): string {
  return file.replace(/\.gz$/i, '');
}

/** True if SQL can read rows from a file with this name. A README is documentation, not data. */
export function hasRows(file: string): boolean {
  return dataFile.test(file) && file.split('/').at(-1)?.toLowerCase() !== 'readme.md';
}
