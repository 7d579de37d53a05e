/** Name of the rows that training's reader wrote, in the folder of a confined program. */
export const ROWS_FILE = 'rows.parquet';

/** Aliases of extensions; keep in step with `data/rows.py` of the runtime. */
const ALIASES = new Map([
  ['ndjson', 'jsonl'],
  ['jsonlines', 'jsonl'],
  ['md', 'txt'],
]);
const DATA_ENDINGS = ['csv', 'tsv', 'jsonl', 'ndjson', 'jsonlines', 'json', 'txt', 'md', 'parquet'];

/** Pattern that paths of data files match; also valid in PostgreSQL. */
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

/** True if SQL finds rows in a file of this name. A README is documentation. */
export function hasRows(file: string): boolean {
  return dataFile.test(file) && file.split('/').at(-1)?.toLowerCase() !== 'readme.md';
}
