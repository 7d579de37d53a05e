import { BGL_PER_USD, type Currency, formatBgl, formatUsd, parseBgl } from '@bakehouse/contract/money';

/** Whether the amount may be typed on from here: digits, and up to two after a point. */
export function isAmountBeingTyped(text: string): boolean {
  return /^\d{0,12}(\.\d{0,2})?$/.test(text);
}

/** The amount in decimal BGL; null where it is nothing. An amount in USD is multiplied by 25, exactly. */
export function amountInBgl(text: string, currency: Currency): string | null {
  if (!isAmountBeingTyped(text) || !/[1-9]/.test(text)) return null;
  const [whole, decimals = ''] = text.split('.');
  const typed = parseBgl(`${whole || '0'}.${decimals.padEnd(2, '0')}`);
  return formatBgl(currency === 'USD' ? typed * BGL_PER_USD : typed);
}

/** What was typed in a currency, as BGL, exactly; what is no amount stays as it is, for the form to refuse. */
export function toBgl(typed: string, currency: Currency): string {
  const text = typed.replace(/^\$/, '');
  if (text === '' || currency === 'BGL') return text;
  try {
    return formatBgl(parseBgl(text) * BGL_PER_USD);
  } catch {
    return typed;
  }
}

/** The other way round: an amount of BGL as one would type it in a currency. */
export function fromBgl(bgl: string, currency: Currency): string {
  try {
    return bgl === '' ? '' : typedAmount(bgl, currency);
  } catch {
    return bgl;
  }
}

/** A wire amount as somebody would type it, exactly: it may have more decimals than can be typed. */
export function typedAmount(bgl: string, currency: Currency): string {
  const micro = parseBgl(bgl);
  return currency === 'USD' ? formatUsd(micro) : formatBgl(micro);
}
