import * as z from 'zod';

/**
 * Inside the program, money is an integer number of micro-BGL (`bigint`). In the API it is a decimal string
 * in BGL. Never use floating point for amounts.
 */
export const MICRO_PER_BGL = 1_000_000n;
export const BGL_PER_USD = 25n;

const decimal = /^(-?)(\d{1,15})(?:\.(\d{1,6}))?$/;

/** '12.5' -> 12500000n. Throws unless it is a decimal with up to 6 places. */
export function parseBgl(text: string): bigint {
  const match = decimal.exec(text.trim());
  if (!match) throw new Error(`Not an amount of BGL: ${text}`);
  const [, sign, whole = '0', fraction = ''] = match;
  const micro = BigInt(whole) * MICRO_PER_BGL + BigInt(fraction.padEnd(6, '0'));
  return sign === '-' ? -micro : micro;
}

/**
 * '12.5' US dollars -> 1250 cents, exactly. Throws unless it is a decimal of up to 12 digits with up to 2
 * places.
 */
export function parseUsdCents(text: string): number {
  const match = /^(\d{1,12})(?:\.(\d{1,2}))?$/.exec(text.trim());
  if (!match) throw new Error(`Not an amount of US dollars: ${text}`);
  const [, whole = '0', fraction = ''] = match;
  return Number(whole + fraction.padEnd(2, '0'));
}

/** True if a text is an amount of BGL above zero. */
export function isPositiveBgl(text: string): boolean {
  try {
    return parseBgl(text) > 0n;
  } catch {
    return false;
  }
}

/** Returns the smaller amount, because Math.min does not support bigint. */
export function smallerAmount(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** 12500000n -> '12.5'. Exact, without trailing zeros. */
export function formatBgl(micro: bigint): string {
  return formatDecimal(micro, 6);
}

/** 12500000n (12.5 BGL) -> '0.5'. Exact, without trailing zeros: a micro-BGL is 0.00000004 USD. */
export function formatUsd(microBgl: bigint): string {
  return formatDecimal(microBgl * (100n / BGL_PER_USD), 8);
}

function formatDecimal(value: bigint, places: number): string {
  const sign = value < 0n ? '-' : '';
  const digits = (value < 0n ? -value : value).toString().padStart(places + 1, '0');
  const fraction = digits.slice(-places).replace(/0+$/, '');
  return `${sign}${digits.slice(0, -places)}${fraction ? `.${fraction}` : ''}`;
}

export type Currency = 'USD' | 'BGL';

/** Number of decimals that represent one micro-BGL exactly. */
export const EXACT_PLACES = { USD: 8, BGL: 6 } as const satisfies Record<Currency, number>;

/**
 * Formats an amount for programs: a fixed number of decimals, rounded half away from zero. '5.00',
 * '-1250.00'.
 * @param places decimals, from 1 to EXACT_PLACES.
 */
export function fixedAmount(microBgl: bigint, currency: Currency, places = 2): string {
  const absolute = microBgl < 0n ? -microBgl : microBgl;
  const exact = currency === 'USD' ? absolute * (100n / BGL_PER_USD) : absolute;
  const step = 10n ** BigInt(EXACT_PLACES[currency] - places);
  const digits = ((exact + step / 2n) / step).toString().padStart(places + 1, '0');
  return `${microBgl < 0n ? '-' : ''}${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

/**
 * Formats an amount for people: `fixedAmount` with currency and thousands separators. '$5.00', '1,250.00
 * BGL'.
 */
export function displayAmount(microBgl: bigint, currency: Currency, places = 2): string {
  const sign = microBgl < 0n ? '−' : '';
  const absolute = microBgl < 0n ? -microBgl : microBgl;
  const [whole = '', fraction = ''] = fixedAmount(absolute, currency, places).split('.');
  const text = `${whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',')}.${fraction}`;
  return currency === 'USD' ? `${sign}$${text}` : `${sign}${text} BGL`;
}

/**
 * Returns the number of decimals to show. Normally two. Below a cent (0.25 BGL), as many as show two
 * significant digits, unless two decimals are exact.
 */
export function placesFor(microBgl: bigint, currency: Currency): number {
  const exact = currency === 'USD' ? formatUsd(microBgl) : formatBgl(microBgl);
  const cut = currency === 'USD' ? /^-?0\.(00+)/ : /^-?0\.(00+|0(?=\d\d))/;
  const zeros = cut.exec(exact)?.[1]?.length;
  return zeros === undefined ? 2 : Math.min(zeros + 2, EXACT_PLACES[currency]);
}

/** An amount in a response. */
export const bgl = z.string().regex(/^-?\d+(\.\d{1,6})?$/);

/** Amounts in requests must be less than this many BGL. A bigint column can hold nine times as much. */
export const AMOUNT_LIMIT_BGL = '1000000000000';

/** True if a text is a decimal number that is too large, with any number of digits. */
export function isTooLarge(text: string): boolean {
  return /^-?0*[1-9]\d{12,}(\.\d*)?$/.test(text.trim());
}

/** A double holds 15 digits exactly. With 6 decimals, 9 digits remain before the point. */
const NUMBER_LIMIT = 1_000_000_000;

/** An amount in a request: a decimal string, or a JSON number without rounding. Parsed to micro-BGL. */
export const bglInput = z
  .union([
    z.string().meta({
      description: 'A decimal number of BGL with at most 6 decimals, e.g. "12.5"',
      pattern: '^\\s*-?\\d{1,12}(\\.\\d{1,6})?\\s*$',
    }),
    z.number().meta({
      description: 'At most 6 decimals. Send large amounts as a string, which is never rounded',
      exclusiveMinimum: -NUMBER_LIMIT,
      exclusiveMaximum: NUMBER_LIMIT,
    }),
  ])
  .transform((value, context) => {
    if (typeof value === 'number' && Math.abs(value) >= NUMBER_LIMIT) {
      context.addIssue({
        code: 'custom',
        message: 'Amount is too large for a JSON number, which may be rounded. Send it as a string',
      });
      return z.NEVER;
    }
    if (isTooLarge(String(value))) {
      const limit = displayAmount(parseBgl(AMOUNT_LIMIT_BGL), 'BGL').replace('.00', '');
      context.addIssue({ code: 'custom', message: `Amount must be less than ${limit}` });
      return z.NEVER;
    }
    try {
      return parseBgl(String(value));
    } catch {
      context.addIssue({
        code: 'custom',
        message: 'Amount must be a decimal number of BGL with at most 6 decimals',
      });
      return z.NEVER;
    }
  });

/** Returns the schema of an amount above zero; errors begin with `name`. */
export const positiveBgl = (name: string) =>
  bglInput.refine((micro) => micro > 0n, `${name} must be greater than 0`);
