import type { listSpend as contract } from '@bakehouse/contract/credits';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import type { Context } from '../../platform/context.ts';
import { accountUse } from './accounts.ts';
import { sumSpendByDay } from './queries.ts';

/** What the caller spent per day and use. A day that got back more than it paid is negative. */
export async function listSpend(
  ctx: Context,
  { from, to }: InputOf<typeof contract>['query'],
): Promise<ResponseOf<typeof contract>> {
  const sums = await sumSpendByDay(ctx.db, { userId: ctx.caller.userId, from, to });
  return {
    days: sums.flatMap(({ date, revenue_account_id, amount }) => {
      const use = accountUse(revenue_account_id);
      return use === null || amount === 0n ? [] : [{ date, use, amount: formatBgl(amount) }];
    }),
  };
}
