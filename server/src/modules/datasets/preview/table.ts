import type { cell } from '@bakehouse/contract/assets';
import type * as z from 'zod';

/**
 * The rows of a file cannot be shown. Contains a message for the user, and the request parameter to which it
 * refers.
 */
export class Unreadable extends Error {
  readonly param: 'path' | 'filters' | 'column';

  constructor(sentence: string, options: { param?: Unreadable['param']; cause?: unknown } = {}) {
    super(sentence, { cause: options.cause });
    this.param = options.param ?? 'path';
  }
}

/** Maximum columns to show. A file may have any number of columns. */
export const COLUMNS_MAX = 200;

const CELL_CHARS_MAX = 2_000;

/** Returns the text, truncated with an ellipsis if needed. Never splits a surrogate pair. */
export function cut(text: string, chars: number): string {
  if (text.length <= chars) return text;
  return `${text.slice(0, chars).replace(/[\uD800-\uDBFF]$/, '')}…`;
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
