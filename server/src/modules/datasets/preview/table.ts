import { Unreadable } from './unreadable.ts';

/** Columns that are shown; a file may have any number of them. */
export const COLUMNS_MAX = 200;

/** The names of the first columns, and how many columns there are in all. */
export type Columns = { shown: string[]; count: number };

/** A row that could be read: its values of the columns shown, in their order. */
export type Row = { line: number; values: unknown[] };

/** A row that could not. `line` is where it starts, from 1; in Parquet the row's number. */
export type Broken = { line: number; reason: string };

/** A limit of looking, and none of training, which reads such a row. */
export const TOO_LONG = 'longer than 4 MB: too long to be shown';

export const NUL = 'the text contains a NUL character';
export const HALF_CHARACTER = 'half of a surrogate pair stands where a character should';

/**
 * A data file while it is read. The columns of csv and Parquet are complete at once, those of
 * jsonl and json grow with the rows. What is a row, what is broken and what refuses the file is as
 * in the runtime's reader, `data/rows.py`; `fixtures/read-alike.json` holds both to it.
 */
export type Table = { columns: Columns; rows: AsyncIterable<Row | Broken> };

export function isBroken(item: object): item is Broken {
  return 'reason' in item;
}

/** Throws Unreadable where two columns have one name, so that nobody could say which is meant. */
export function refuseDuplicateColumns(columns: string[], fileName: string): void {
  const seen = new Set<string>();
  for (const column of columns) {
    if (seen.has(column)) throw new Unreadable(`${fileName} names the column '${column}' twice.`);
    seen.add(column);
  }
}

/** The text, or its beginning with a sign that there is more. A character is not cut in two. */
export function cut(text: string, chars: number): string {
  if (text.length <= chars) return text;
  return `${text.slice(0, chars).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** The text without these characters at its ends; a regex would try every run of them inside. */
export function strip(text: string, characters: string): string {
  let [start, end] = [0, text.length];
  while (start < end && characters.includes(text.charAt(start))) start += 1;
  while (end > start && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}
