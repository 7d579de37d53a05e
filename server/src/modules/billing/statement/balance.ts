import type { getBalance as getBalanceEndpoint } from '@bakehouse/contract/credits';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl, parseBgl } from '@bakehouse/contract/money';
import type { Context } from '../../../platform/context.ts';
import { findNextExpiry, getUserTotals, sumSentInDay, type UserTotals } from '../queries.ts';

/** Returns the caller's credits: the balance, and its held, available and sendable parts. */
export async function getBalance(ctx: Context): Promise<ResponseOf<typeof getBalanceEndpoint>> {
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

/**
 * Returns the amount that the caller can send to others now: the sendable balance, or less if the limit for
 * 24 hours is lower.
 */
export async function readSendable({ db, config, caller }: Context, totals: UserTotals): Promise<bigint> {
  const sendable = sendableMicro(totals);
  const dailyMax = parseBgl(config.sendLimitBgl);
  if (dailyMax === 0n) return sendable;
  const left = dailyMax - (await sumSentInDay(db, caller.userId));
  if (left <= 0n) return 0n;
  return left < sendable ? left : sendable;
}

/**
 * Returns the sendable part of a balance: bought credits without debts, and without the part of the holds
 * that given credits do not cover.
 */
export function sendableMicro({ balance, held, given, owed }: UserTotals): bigint {
  const sendable = balance - (held > given ? held : given) - owed;
  return sendable > 0n ? sendable : 0n;
}
