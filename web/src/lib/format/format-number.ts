/** Formats a number with thousands separators and a true minus sign: '12,345', '−0.5'. */
export function formatNumber(value: number, options?: Intl.NumberFormatOptions): string {
  return withMinus(value.toLocaleString('en', options));
}

/**
 * Replaces hyphens with true minus signs: '−2', '2.0e−4'. For display only; inputs and files keep the hyphen.
 */
export function withMinus(number: string | number): string {
  return String(number).replaceAll('-', '−');
}
