import type { balance } from '@bakehouse/contract/credits';
import { formatBgl } from '@bakehouse/contract/money';
import type * as z from 'zod';
import type { Context } from '../../platform/context.ts';
import { getUserTotals } from './queries.ts';

/** The caller's credits: all, held and available. */
export async function getBalance(ctx: Context): Promise<z.infer<typeof balance>> {
  return toBalance(await getUserTotals(ctx.db, ctx.caller.userId));
}

/** Totals in micro-BGL as the wire shows them. */
export function toBalance(totals: { balance: bigint; held: bigint }): z.infer<typeof balance> {
  return {
    balance: formatBgl(totals.balance),
    held: formatBgl(totals.held),
    available: formatBgl(totals.balance - totals.held),
  };
}
