import { Unreadable } from './unreadable.ts';

/** Columns shown; a file may have any number of columns. */
export const COLUMNS_MAX = 200;

/** The names of the first columns, and the total number of columns. */
export type Columns = { shown: string[]; count: number };

/** A readable row: its values in the order of the shown columns. */
export type Row = { line: number; values: unknown[] };

/** An unreadable row. `line` is its first line, from 1; in Parquet the row's number. */
export type Broken = { line: number; reason: string };

/** A limit of the preview only: training reads such a row. */
export const TOO_LONG = 'longer than 4 MB: too long to be shown';

export const NUL = 'the text contains a NUL character';
export const HALF_CHARACTER = 'half of a surrogate pair stands where a character should';

/**
 * A data file being read. The columns of csv and Parquet are known from the start; the columns of jsonl and
 * json grow with the rows. Rows, broken rows and rejected files must match the runtime's reader,
 * `data/rows.py`; `fixtures/read-alike.json` tests both.
 */
export type Table = { columns: Columns; rows: AsyncIterable<Row | Broken> };

export function isBroken(item: object): item is Broken {
  return 'reason' in item;
}

/** Throws Unreadable if two columns share a name and would be ambiguous. */
export function refuseDuplicateColumns(columns: string[], fileName: string): void {
  const seen = new Set<string>();
  for (const column of columns) {
    if (seen.has(column)) throw new Unreadable(`${fileName} names the column '${column}' twice.`);
    seen.add(column);
  }
}

/** Returns the text, truncated with an ellipsis if needed. Never splits a surrogate pair. */
export function cut(text: string, chars: number): string {
  if (text.length <= chars) return text;
  return `${text.slice(0, chars).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Returns the text without these characters at its ends; a regex would retry every inner run. */
export function strip(text: string, characters: string): string {
  let [start, end] = [0, text.length];
  while (start < end && characters.includes(text.charAt(start))) start += 1;
  while (end > start && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}
