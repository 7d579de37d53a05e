import { createHash } from 'node:crypto';
import type { ColumnStatistics } from '@bakehouse/contract/data-files';
import { cut } from '../table.ts';
import { spread } from './spread.ts';

/** Values that are told apart in one column. */
export const DISTINCT_MAX = 1_000;
const FREQUENT = 5;
/** Longer texts are told apart by their hash, and shown as far as this. */
const VALUE_CHARS = 100;
/** A number as people write them into csv; what begins with a zero is rather a name. */
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

type Kind = Exclude<ColumnStatistics['type'], 'mixed' | 'empty'>;

/** Counts what a column holds, value by value. `isCsv`: all of its values are text, whatever they mean. */
export function countColumn(isCsv: boolean): {
  add: (value: unknown) => void;
  result: () => Omit<ColumnStatistics, 'name'>;
} {
  const kinds = new Set<Kind>();
  const values = new Map<string, { shown: string; count: number }>();
  const numbers: number[] = [];
  const lengths: number[] = [];
  let filled = 0;
  let isMore = false;

  const distinguish = (text: string): void => {
    const key = text.length <= VALUE_CHARS ? text : createHash('sha256').update(text).digest('base64');
    const known = values.get(key);
    if (known) known.count += 1;
    else if (values.size < DISTINCT_MAX) values.set(key, { shown: cut(text, VALUE_CHARS), count: 1 });
    else isMore = true;
  };
  return {
    add: (value) => {
      if (isBlank(value)) return;
      filled += 1;
      const isNumber = isCsv && typeof value === 'string' && NUMBER.test(value.trim());
      kinds.add(isNumber ? 'number' : kindOf(value));
      if (isNumber || typeof value === 'number' || typeof value === 'bigint') numbers.push(Number(value));
      if (typeof value === 'string' || Array.isArray(value)) lengths.push(value.length);
      distinguish(textOf(value));
    },
    result: () => {
      const type = typeOf(kinds, isCsv);
      const isNumber = type === 'number';
      const shown = isNumber ? numbers : type === 'text' || type === 'list' ? lengths : [];
      return {
        type,
        filled,
        distinct: values.size,
        distinct_is_more: isMore,
        numbers: isNumber ? rangeOf(numbers) : null,
        lengths: isNumber ? null : rangeOf(shown),
        histogram: spread(shown),
        frequent: isMore ? [] : mostFrequent([...values.values()]),
      };
    },
  };
}

function isBlank(value: unknown): boolean {
  return (
    value === null ||
    value === undefined ||
    (typeof value === 'string' && value.trim() === '') ||
    (typeof value === 'number' && !Number.isFinite(value))
  );
}

function kindOf(value: unknown): Kind {
  if (typeof value === 'number' || typeof value === 'bigint') return 'number';
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'string') return 'text';
  if (Array.isArray(value)) return 'list';
  if (value instanceof Date) return 'date';
  return value instanceof Uint8Array ? 'bytes' : 'object';
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean')
    return String(value);
  return JSON.stringify(value, (_key, inner: unknown) => (typeof inner === 'bigint' ? String(inner) : inner));
}

function typeOf(kinds: ReadonlySet<Kind>, isCsv: boolean): ColumnStatistics['type'] {
  const [first, ...others] = kinds;
  if (first === undefined) return 'empty';
  if (others.length === 0) return first;
  // A number among the texts of a csv is a text that looks like one.
  return isCsv ? 'text' : 'mixed';
}

function rangeOf(values: readonly number[]): ColumnStatistics['numbers'] {
  if (values.length === 0) return null;
  let [min, max, sum] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0];
  for (const value of values) {
    min = Math.min(min, value);
    max = Math.max(max, value);
    sum += value / values.length;
  }
  return { min, max, mean: sum };
}

function mostFrequent(values: { shown: string; count: number }[]): ColumnStatistics['frequent'] {
  return values
    .filter(({ count }) => count > 1)
    .sort((a, b) => b.count - a.count)
    .slice(0, FREQUENT)
    .map(({ shown, count }) => ({ value: shown, count }));
}
