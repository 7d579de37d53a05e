import type { listSpend as contract } from '@bakehouse/contract/credits';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import type { Context } from '../../platform/context.ts';
import { accountUse } from './accounts.ts';
import { knownTimeZone } from './known-time-zone.ts';
import { sumSpendByDay } from './queries.ts';

/** What the caller spent per day and use. A day that got back more than it paid is negative. */
export async function listSpend(
  ctx: Context,
  { from, to, time_zone: timeZone }: InputOf<typeof contract>['query'],
): Promise<ResponseOf<typeof contract>> {
  const { userId } = ctx.caller;
  const sums = await knownTimeZone(sumSpendByDay(ctx.db, { userId, from, to, timeZone }));
  return {
    days: sums.flatMap(({ date, revenue_account_id, amount }) => {
      const use = accountUse(revenue_account_id);
      return use === null || amount === 0n ? [] : [{ date, use, amount: formatBgl(amount) }];
    }),
  };
}
