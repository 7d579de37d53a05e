import type { listSpend as listSpendEndpoint } from '@bakehouse/contract/credits';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { SPEND_DAYS_DEFAULT, SPEND_DAYS_MAX } from '@bakehouse/contract/limits';
import { formatBgl } from '@bakehouse/contract/money';
import { DAY_MS } from '../../../platform/clock.ts';
import type { Context } from '../../../platform/context.ts';
import { readSnapshot } from '../../../platform/db/read-snapshot.ts';
import { invalidParam } from '../../../platform/errors.ts';
import { listKeyNames } from '../../accounts/steps.ts';
import { accountUse } from '../ledger/accounts.ts';
import { sumSpendByDay, sumSpendByKey } from './sum-queries.ts';

/** PostgreSQL's code for an unknown parameter value. */
const INVALID_PARAMETER_VALUE = '22023';

/**
 * Returns the caller's spending by day and use, and by API key, and the amounts sent with each key. A day
 * with more refunds than costs has a negative amount.
 */
export async function listSpend(
  ctx: Context,
  { time_zone: timeZone, ...asked }: InputOf<typeof listSpendEndpoint>['query'],
): Promise<ResponseOf<typeof listSpendEndpoint>> {
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

/**
 * Returns the first and the last day to sum. Defaults to the 30 days up to today in the time zone. Throws
 * AppError 'invalid_request' for more than a year, because too much would be read.
 */
export function spendDays(
  asked: { from?: string | undefined; to?: string | undefined; timeZone: string },
  now: Date,
): { from: string; to: string } {
  const to = asked.to ?? dayIn(asked.timeZone, now);
  const from = asked.from ?? daysBefore(to, SPEND_DAYS_DEFAULT - 1);
  if (from < daysBefore(to, SPEND_DAYS_MAX - 1)) {
    throw invalidParam(
      'from',
      `from and to must be within ${SPEND_DAYS_MAX} days: ask for ${from} to ${to} in parts`,
    );
  }
  return { from, to };
}

/** Returns today's date in the time zone, such as '2026-11-20'. */
function dayIn(timeZone: string, now: Date): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone }).format(now);
}

/** Returns the day `days` earlier, but not before year 1, where PostgreSQL's dates start. */
function daysBefore(day: string, days: number): string {
  const at = Math.max(Date.parse('0001-01-01'), Date.parse(day) - days * DAY_MS);
  return new Date(at).toISOString().slice(0, 10);
}

/** Returns a query's rows. Throws `invalid_request` if the database does not know the query's time zone. */
export async function knownTimeZone<Rows>(rows: Promise<Rows>): Promise<Rows> {
  try {
    return await rows;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === INVALID_PARAMETER_VALUE)) throw error;
    throw invalidParam('time_zone', 'Unknown time zone. Use a name such as Europe/Berlin', error);
  }
}
