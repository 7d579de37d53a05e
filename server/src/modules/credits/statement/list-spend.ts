import type { listSpend as contract } from '@bakehouse/contract/credits';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import type { Context } from '../../../platform/context.ts';
import { readSnapshot } from '../../../platform/db/read-snapshot.ts';
import { listKeyNames } from '../../accounts/steps.ts';
import { accountUse } from '../ledger/accounts.ts';
import { knownTimeZone } from './known-time-zone.ts';
import { spendDays } from './spend-days.ts';
import { sumSpendByDay, sumSpendByKey } from './sum-queries.ts';

/**
 * Returns the caller's spending per day and use and per API key, and the amounts sent with each key, within a
 * year. A day with more refunds than costs is negative.
 */
export async function listSpend(
  ctx: Context,
  { time_zone: timeZone, ...asked }: InputOf<typeof contract>['query'],
): Promise<ResponseOf<typeof contract>> {
  const { userId } = ctx.caller;
  const { from, to } = spendDays({ ...asked, timeZone }, ctx.clock.now());
  const period = { userId, from, to, timeZone };
  const { byDay, byKey } = await knownTimeZone(
    readSnapshot(ctx.db, async (tx) => ({
      byDay: await sumSpendByDay(tx, period),
      byKey: await sumSpendByKey(tx, period),
    })),
  );
  const names = await listKeyNames(ctx.db, userId);
  return {
    from,
    to,
    days: byDay.flatMap(({ date, revenue_account_id, amount }) => {
      const use = accountUse(revenue_account_id);
      return use === null ? [] : [{ date, use, amount: formatBgl(amount) }];
    }),
    keys: byKey.map(({ key_id, amount, sent }) => ({
      key_id,
      key_name: key_id === null ? null : (names.get(key_id) ?? null),
      amount: formatBgl(amount),
      sent: formatBgl(sent),
    })),
  };
}
