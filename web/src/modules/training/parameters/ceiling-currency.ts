import { BGL_PER_USD, type Currency, formatBgl, formatUsd, parseBgl } from '@bakehouse/contract/money';

/** What was typed in a currency, as BGL; what is no amount stays as it is, for the form to refuse. */
export function toBgl(typed: string, currency: Currency): string {
  const text = typed.replace(/^\$/, '');
  if (text === '' || currency === 'BGL') return text;
  try {
    return formatBgl(parseBgl(text) * BGL_PER_USD);
  } catch {
    return typed;
  }
}

/** An amount of BGL as one would type it in a currency, exactly. */
export function fromBgl(bgl: string, currency: Currency): string {
  if (bgl === '' || currency === 'BGL') return bgl;
  try {
    return formatUsd(parseBgl(bgl));
  } catch {
    return bgl;
  }
}
