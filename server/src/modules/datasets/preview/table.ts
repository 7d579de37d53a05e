import type { cell } from '@bakehouse/contract/assets';
import type * as z from 'zod';

/**
 * A file's rows cannot be shown. Carries a message for the user and the request parameter that it concerns.
 */
export class Unreadable extends Error {
  readonly param: 'path' | 'offset' | 'filters' | 'column';

  constructor(sentence: string, options: { param?: Unreadable['param']; cause?: unknown } = {}) {
    super(sentence, { cause: options.cause });
    this.param = options.param ?? 'path';
  }
}

/** Columns shown; a file may have any number of columns. */
export const COLUMNS_MAX = 200;

/** A limit of the preview only: training reads such a row. */
export const TOO_LONG = 'longer than 4 MB: too long to be shown';

export const NUL = 'the text contains a NUL character';
export const HALF_CHARACTER = 'half of a surrogate pair stands where a character should';
const CELL_CHARS_MAX = 2_000;

/** The names of the first columns, and the total number of columns. */
export type Columns = { shown: string[]; count: number };

/** A readable row: its values in the order of the shown columns. */
export type Row = { line: number; values: unknown[] };

/** An unreadable row. `line` is its first line, from 1; in Parquet the row's number. */
export type Broken = { line: number; reason: string };

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
export function assertUniqueColumns(columns: string[], fileName: string): void {
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

type Cell = z.infer<typeof cell>;

/**
 * Returns a value for display: lists and objects as JSON, text truncated to 2,000 characters, or to `chars`
 * if that is less.
 */
export function toCell(value: unknown, chars = CELL_CHARS_MAX): Cell {
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'bigint')
    return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  return cut(typeof value === 'string' ? value : toJson(value), Math.min(chars, CELL_CHARS_MAX));
}

export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => {
    if (item instanceof Uint8Array) return `${item.length} bytes`;
    return typeof item === 'bigint' ? String(item) : item;
  });
}

/** True if the error is a text file's read limit. */
export function isTooDeep(error: unknown): boolean {
  return error instanceof Unreadable && error.param === 'offset';
}
