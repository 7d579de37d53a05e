import { type Currency, parseBgl } from '@bakehouse/contract/money';
import { showUnrounded } from '../../../lib/format/currency.ts';
import { insufficientBalance } from '../../../lib/format/insufficient-balance.ts';
import { amountProblem } from '../../../lib/format/typed-amount.ts';

/** What the Send Credits form holds: the amount as it was typed, in the currency that the form began with. */
export type SendForm = { recipient: string; amount: string };
export type SendProblems = { recipient?: string; amount?: string };

/** What is wrong with the form, in the words that stand under its fields; empty where it can be sent. */
export function sendProblems({ recipient, amount }: SendForm, currency: Currency): SendProblems {
  const problem = amountProblem(amount, currency);
  return {
    ...(recipient.trim() === '' && { recipient: 'Recipient username cannot be empty' }),
    ...(problem && { amount: problem }),
  };
}

/** Says so where there is less that can be spent, or sent, than the amount in BGL. */
export function lackOfCredit(
  amount: string,
  { available, sendable }: { available: string; sendable: string },
): string | undefined {
  const micro = parseBgl(amount);
  if (micro > parseBgl(available)) return insufficientBalance(amount, available);
  return micro > parseBgl(sendable) ? `You can send up to ${showUnrounded(sendable)}` : undefined;
}
