import type { cell } from '@bakehouse/contract/assets';
import type * as z from 'zod';
import { cut } from './table.ts';

type Cell = z.infer<typeof cell>;

const CELL_CHARS_MAX = 2_000;

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
