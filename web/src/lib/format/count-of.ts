import { formatNumber } from './format-number.ts';

/** '1 row', '1,200 rows', '2 copies': a number with its noun. `many` where an s is not enough. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`;
}
