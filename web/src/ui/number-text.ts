/** The digits of a number in a field. */
export function numberText(value: number | null, maxDecimals: number): string {
  if (value === null || Number.isNaN(value)) return '';
  return value.toLocaleString('en', { maximumFractionDigits: maxDecimals, useGrouping: false });
}

const NUMBER = /^[+-]?(?:\d{1,3}(?:,\d{3})+|\d+(?=\D|$)|(?=\.\d))(?:\.\d*)?(?:e[+-]?\d+)?$/i;

/** What somebody has typed; null for nothing, and undefined for what is no number, or none yet. */
export function typedNumber(text: string, maxDecimals: number): number | null | undefined {
  const typed = text.trim();
  if (typed === '') return null;
  if (!NUMBER.test(typed)) return undefined;
  return rounded(Number(typed.replaceAll(',', '')), maxDecimals);
}

type Bounds = { min?: number; max?: number };

/** The number that steps lead to, inside the bounds. */
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
