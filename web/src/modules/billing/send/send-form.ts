import type { getBalance } from '@bakehouse/contract/credits';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { type Currency, parseBgl } from '@bakehouse/contract/money';
import { showUnrounded } from '../../../lib/format/currency.ts';
import { insufficientBalance } from '../../../lib/format/insufficient-balance.ts';
import { amountProblem } from '../../../lib/format/typed-amount.ts';

/** Values of the form: the amount as typed, in the form's initial currency. */
export type SendForm = { recipient: string; amount: string };
export type SendProblems = { recipient?: string; amount?: string };

/** Returns the form's problems as displayed below its fields; empty if valid. */
export function sendProblems({ recipient, amount }: SendForm, currency: Currency): SendProblems {
  const problem = amountProblem(amount, currency);
  return {
    ...(recipient.trim() === '' && { recipient: 'Recipient username cannot be empty' }),
    ...(problem && { amount: problem }),
  };
}

type Balance = Pick<ResponseOf<typeof getBalance>, 'balance' | 'held' | 'available' | 'given' | 'sendable'>;

/** Returns why nothing can be sent, and if buying credits would help; null if something can be sent. */
export function sendBlockedReason(all: Balance): { reason: string; buy: boolean } | null {
  const [balance, given] = [parseBgl(all.balance), parseBgl(all.given)];
  if (parseBgl(all.sendable) > 0n) return null;
  if (balance === 0n) return { reason: 'You have no credits.', buy: true };
  if (given >= balance)
    return {
      reason: 'All your credits are promotional. You can spend them, but not send them to other users.',
      buy: true,
    };
  if (parseBgl(all.available) === 0n)
    return { reason: 'Running work may need all of your credits.', buy: true };
  // Names both possible reasons, because the API does not return the owed amount.
  return {
    reason: 'You have reached this server’s 24-hour limit, or you still owe a payment that was reversed.',
    buy: false,
  };
}

/** Returns why the sendable credits are below the available ones; undefined if they are not. */
export function sendLimitReason({ balance, held, available, given, sendable }: Balance): string | undefined {
  const [all, inUse, gift] = [parseBgl(balance), parseBgl(held), parseBgl(given)];
  if (parseBgl(sendable) >= parseBgl(available)) return undefined;
  return parseBgl(sendable) < all - (inUse > gift ? inUse : gift)
    ? 'This server limits how much you can send within 24 hours.'
    : 'The rest are promotional credits, which cannot be sent to other users.';
}

/** Returns the problem if the BGL amount exceeds the available or the sendable credits. */
export function insufficientCreditProblem(
  amount: string,
  { available, sendable }: { available: string; sendable: string },
): string | undefined {
  const micro = parseBgl(amount);
  // Also for this problem, show the maximum that can be sent.
  if (micro > parseBgl(available)) return insufficientBalance(amount, sendable);
  return micro > parseBgl(sendable) ? `You can send up to ${showUnrounded(sendable)}` : undefined;
}
