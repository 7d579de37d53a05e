/** Formats a number for a text field. */
export function numberText(value: number | null, maxDecimals: number): string {
  if (value === null || Number.isNaN(value)) return '';
  return value.toLocaleString('en', { maximumFractionDigits: maxDecimals, useGrouping: false });
}

const NUMBER = /^[+-]?(?:\d{1,3}(?:,\d{3})+|\d+(?=\D|$)|(?=\.\d))(?:\.\d*)?(?:e[+-]?\d+)?$/i;

/** Parses typed text: null if empty, undefined if it isn't a number (yet). */
export function typedNumber(text: string, maxDecimals: number): number | null | undefined {
  const typed = text.trim();
  if (typed === '') return null;
  if (!NUMBER.test(typed)) return undefined;
  return rounded(Number(typed.replaceAll(',', '')), maxDecimals);
}

type Bounds = { min?: number; max?: number };

/** Returns the number after stepping, clamped to the bounds. */
export function steppedNumber(
  value: number | null,
  by: number,
  { min = -Infinity, max = Infinity, maxDecimals }: Bounds & { maxDecimals: number },
): number {
  const next = value === null ? Math.max(0, min) : rounded(value + by, maxDecimals);
  return Math.min(max, Math.max(min, next));
}

function rounded(value: number, decimals: number): number {
  return Number(value.toFixed(decimals));
}
