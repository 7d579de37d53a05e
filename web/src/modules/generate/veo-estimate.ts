import type { GeneratorName } from '@bakehouse/contract/generators';
import { formatBgl, parseBgl } from '@bakehouse/contract/money';
import type { FormValues } from './form/form-values.ts';

/** USD per second. */
const WITH_SOUND = '0.75';
const SILENT = '0.5';
const BGL_PER_USD = 25n;

type Quote = { data: { cost: string } | undefined; isError: boolean; isSettled: boolean };

/** Returns the estimated price of a Veo video in BGL. */
export function veoEstimate({ duration, generate_audio: sound }: FormValues): string {
  const each = parseBgl(sound === false ? SILENT : WITH_SOUND) * BGL_PER_USD;
  return formatBgl(each * BigInt(Number(duration)));
}

/** Returns the server's price, or for Veo an estimate if that fails. */
export function withFallback(name: GeneratorName, values: FormValues, quote: Quote): Quote {
  if (name !== 'veo' || !quote.isError) return quote;
  return { data: { cost: veoEstimate(values) }, isError: false, isSettled: true };
}
