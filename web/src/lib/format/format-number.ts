/** '12,345', '−0.5': a number as people read it, in groups of three digits and with a true minus sign. */
export function formatNumber(value: number, options?: Intl.NumberFormatOptions): string {
  return withMinus(value.toLocaleString('en', options));
}

/** '−2', '2.0e−4': the minus sign in place of the hyphen that JavaScript writes. For screens; inputs and files keep it. */
export function withMinus(number: string | number): string {
  return String(number).replaceAll('-', '−');
}
