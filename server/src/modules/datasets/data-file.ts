/** Endings that stand for another one; `data/rows.py` of the runtime has the same. */
const ALIASES = new Map([
  ['ndjson', 'jsonl'],
  ['jsonlines', 'jsonl'],
  ['md', 'txt'],
]);
const DATA_ENDINGS = ['csv', 'tsv', 'jsonl', 'ndjson', 'jsonlines', 'json', 'txt', 'md', 'parquet'];

/** What paths of data files match, in PostgreSQL too. */
export const DATA_FILE_PATTERN = `\\.(${DATA_ENDINGS.join('|')})(\\.gz)?$`;
const dataFile = new RegExp(DATA_FILE_PATTERN, 'i');

/** By which a file is read: the ending of its name, in lower case, or that which it stands for. */
export function endingOf(file: string): string {
  const ending = file.split('.').at(-1)?.toLowerCase() ?? '';
  return ALIASES.get(ending) ?? ending;
}

/** Whether the file is packed with gzip, by its name. */
export function isPacked(file: string): boolean {
  return unpackedName(file) !== file;
}

/** `data.csv.gz` -> `data.csv`. */
export function unpackedName(file: string): string {
  return file.replace(/\.gz$/i, '');
}

/** Whether SQL finds rows in a file of this name. A card describes the data, and is none of it. */
export function hasRows(file: string): boolean {
  return dataFile.test(file) && file.split('/').at(-1)?.toLowerCase() !== 'readme.md';
}
