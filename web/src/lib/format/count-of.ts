import { formatNumber } from './format-number.ts';

/** Formats a count with its noun: '1 row', '1,200 rows', '2 copies'. Pass `many` for irregular plurals. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`;
}
