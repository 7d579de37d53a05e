import type { Currency } from '@bakehouse/contract/money';
import { amountInBgl } from '../../../lib/format/typed-amount.ts';

/** What the Send Credits form holds: the amount as it was typed, in the currency that the form began with. */
export type SendForm = { recipient: string; amount: string };
export type SendProblems = { recipient?: string; amount?: string };

/** What is wrong with the form, in the words that stand under its fields; empty where it can be sent. */
export function sendProblems({ recipient, amount }: SendForm, currency: Currency): SendProblems {
  return {
    ...(recipient.trim() === '' && { recipient: 'Recipient username cannot be empty' }),
    ...(amountInBgl(amount, currency) === null && { amount: 'Amount must be greater than 0' }),
  };
}
