import type { getBalance as contract } from '@bakehouse/contract/credits';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import type { Context } from '../../../platform/context.ts';
import { findNextExpiry, getUserTotals } from '../queries.ts';
import { readSendable } from './read-sendable.ts';

/** Returns the caller's credits: the balance, and its held, available and sendable parts. */
export async function getBalance(ctx: Context): Promise<ResponseOf<typeof contract>> {
  const { userId } = ctx.caller;
  const totals = await getUserTotals(ctx.db, userId);
  const { balance, held, given } = totals;
  const expiry = given > 0n ? await findNextExpiry(ctx.db, userId) : undefined;
  return {
    balance: formatBgl(balance),
    held: formatBgl(held),
    available: formatBgl(balance - held),
    given: formatBgl(given),
    sendable: formatBgl(await readSendable(ctx, totals)),
    next_expiry: expiry ? { amount: formatBgl(expiry.amount), at: expiry.at.toISOString() } : null,
  };
}
