import { type RawBuilder, sql } from 'kysely';
import type { Transaction } from '../../../platform/db/database.ts';
import { userAccount } from '../ledger/accounts.ts';
import { findChainHead, LAST_SEQ } from '../verification/chain-queries.ts';
import { backByKey, byKey, type Period, type Selection } from './statement-queries.ts';

/*
 * Sums of a user's transfers. They combine the sealer's sums with unsealed transfers, so both must be read in
 * the same snapshot of the database.
 */

export type CounterpartSum = {
  /**
   * Id of the system account with which the user exchanged credits, or 'users' for all other users together.
   */
  counterpart: string;
  paid: bigint;
  received: bigint;
};

/** If set, the period starts on the day after this ISO date. */
type After = { after?: string };

/**
 * Returns the amounts that the user paid to and received from each counterpart in a period. Optionally only
 * for one API key.
 */
export async function sumUserTransfers(
  tx: Transaction,
  selection: Selection & After,
): Promise<CounterpartSum[]> {
  const { from, after, to } = selection;
  if (from === undefined && after === undefined && to === undefined)
    return sumAllUserTransfers(tx, selection);
  const { rows } = await sql<CounterpartSum>`
    with ${period(selection)}
    select counterpart, sum(paid)::bigint as paid, sum(received)::bigint as received
    from (
      select counterpart, paid, received
      from ${selection.keyId === undefined ? sql`ledger_daily` : sql`ledger_key_daily`}
      where ${ofSelection(selection)} and ${isWholeDay}
      union all
      select counterpart, paid, received from ${await besideWholeDays(tx, selection)}
    ) sums
    group by 1`.execute(tx);
  return rows;
}

/**
 * Returns the sums over all time. Adds unsealed transfers to the sealer's totals, which are only a few rows.
 */
async function sumAllUserTransfers(tx: Transaction, selection: Selection): Promise<CounterpartSum[]> {
  const headSeq = (await findChainHead(tx))?.seq ?? 0n;
  const { rows } = await sql<CounterpartSum>`
    select counterpart, sum(paid)::bigint as paid, sum(received)::bigint as received
    from (
      select counterpart, paid, received
      from ${selection.keyId === undefined ? sql`ledger_sealed_totals` : sql`ledger_key_totals`}
      where ${ofSelection(selection)}
      union all
      select counterpart, paid, received from ledger_sum_days(${headSeq}, ${LAST_SEQ})
      where ${ofSelection(selection)}
    ) sums
    group by 1`.execute(tx);
  return rows;
}

/** Matches the account's rows in the sealer's tables, optionally only for one API key. */
const ofSelection = ({ userId, keyId }: Pick<Selection, 'userId' | 'keyId'>) => sql`
  account_id = ${userAccount(userId)} and ${keyId === undefined ? sql`true` : sql`key_id = ${keyId}`}`;

/**
 * SQL that defines a period's start and end, and the whole UTC days within it. The sealer has summed whole
 * UTC days. In other time zones, the period may start and end within a UTC day. `isWholeDay` and
 * `besideWholeDays` use these names.
 */
const period = ({ from, after, to, timeZone }: Period & After) => sql`
  asked as (
    select
      coalesce(
        ${from ?? null}::date::timestamp at time zone ${timeZone}::text,
        (${after ?? null}::date + 1)::timestamp at time zone ${timeZone}::text,
        '-infinity'
      ) as starts_at,
      coalesce((${to ?? null}::date + 1)::timestamp at time zone ${timeZone}::text, 'infinity') as ends_at
  ), days as (
    select starts_at, ends_at, (starts_at at time zone 'UTC')::date
        + (starts_at at time zone 'UTC' > date_trunc('day', starts_at at time zone 'UTC'))::int as first_day,
      (ends_at at time zone 'UTC')::date as end_day
    from asked
  ), period as materialized (
    -- A period within one day contains no whole day: its two ends meet, and all of it is read from transfers.
    select starts_at, ends_at, first_day, greatest(first_day, end_day) as end_day,
      first_day::timestamp at time zone 'UTC' as days_start_at,
      greatest(first_day, end_day)::timestamp at time zone 'UTC' as days_end_at
    from days
  )`;

const at = (name: string) => sql`(select ${sql.ref(name)} from period)`;

const isWholeDay = sql`day >= ${at('first_day')} and day < ${at('end_day')}`;

/**
 * Returns the transfers of a period that the sealer's sums of whole days do not contain, each with its API
 * key.
 */
async function besideWholeDays(tx: Transaction, selection: Selection): Promise<RawBuilder<unknown>> {
  const headSeq = (await findChainHead(tx))?.seq ?? 0n;
  const account = userAccount(selection.userId);
  const sides = (when: RawBuilder<unknown>) => sql`
    select credit_account_id as other_id, refs ->> 'key_id' as key_id, amount as paid, 0 as received
    from ledger_transfers where debit_account_id = ${account} and ${byKey(selection)} and ${when}
    union all
    select debit_account_id, case kind when 'refund' then refs ->> 'key_id' end, 0, amount
    from ledger_transfers where credit_account_id = ${account} and ${backByKey(selection)} and ${when}`;
  return sql`(
    select key_id, case when other_id like 'user:%' then 'users' else other_id end as counterpart, paid, received
    from (
      ${sides(sql`created_at >= ${at('starts_at')} and created_at < least(${at('days_start_at')}, ${at('ends_at')})`)}
      union all
      ${sides(sql`created_at >= ${at('days_end_at')} and created_at < ${at('ends_at')}`)}
      union all
      ${sides(sql`seq > ${headSeq} and created_at >= ${at('days_start_at')} and created_at < ${at('days_end_at')}`)}
    ) movements
  ) beside_whole_days`;
}

/**
 * Returns what the user spent per revenue account and day in the time zone, after refunds, oldest first. The
 * sealer sums UTC days. Transfers between a UTC midnight and the local midnight are subtracted from one day
 * and added to the other.
 */
export async function sumSpendByDay(
  tx: Transaction,
  { userId, from, to, timeZone }: { userId: string; from: string; to: string; timeZone: string },
): Promise<{ date: string; revenue_account_id: string; amount: bigint }[]> {
  const account = userAccount(userId);
  const headSeq = (await findChainHead(tx))?.seq ?? 0n;
  const utcDay = sql`(created_at at time zone 'UTC')::date`;
  const movements = (when: RawBuilder<unknown>) => sql`(
    select created_at, credit_account_id as revenue_account_id, amount
    from ledger_transfers where debit_account_id = ${account} and ${when}
    union all
    select created_at, debit_account_id, -amount
    from ledger_transfers where credit_account_id = ${account} and kind = 'refund' and ${when}
  ) movements`;
  const { rows } = await sql<{ date: string; revenue_account_id: string; amount: bigint }>`
    with between_midnights as (
      select least(here, utc) as starts_at, greatest(here, utc) as ends_at
      from generate_series(${from}::date::timestamp, ${to}::date + 1, interval '1 day') midnight
      cross join lateral (
        select midnight at time zone ${timeZone}::text as here, midnight at time zone 'UTC' as utc
      ) midnights
      where here <> utc
    )
    select to_char(day, 'YYYY-MM-DD') as date, revenue_account_id, sum(amount)::bigint as amount
    from (
      select day, counterpart as revenue_account_id, paid - received as amount
      from ledger_daily where account_id = ${account} and day between ${from}::date and ${to}::date
      union all
      select ${utcDay}, revenue_account_id, amount from ${movements(sql`seq > ${headSeq}`)}
      union all
      select moved.* from between_midnights
      cross join lateral ${movements(sql`created_at >= starts_at and created_at < ends_at`)}
      cross join lateral (values
        ((created_at at time zone ${timeZone}::text)::date, revenue_account_id, amount),
        (${utcDay}, revenue_account_id, -amount)
      ) moved
    ) sums
    where revenue_account_id like 'revenue:%' and day between ${from}::date and ${to}::date
    group by 1, 2
    having sum(amount) <> 0
    order by 1, 2`.execute(tx);
  return rows;
}

/**
 * Returns what each of the user's API keys has spent after refunds and has sent in a period, largest first.
 */
export async function sumSpendByKey(
  tx: Transaction,
  input: Period & { userId: string },
): Promise<{ key_id: string | null; amount: bigint; sent: bigint }[]> {
  const { rows } = await sql<{ key_id: string | null; amount: bigint; sent: bigint }>`
    with ${period(input)}, keyed as materialized (
      select key_id, counterpart, paid, received from ledger_key_daily where ${ofSelection(input)} and ${isWholeDay}
    ), spent as (
      select key_id, coalesce(sum(paid - received) filter (where counterpart like 'revenue:%'), 0)::bigint as amount,
        coalesce(sum(paid) filter (where counterpart = 'users'), 0)::bigint as sent
      from (
        select key_id, counterpart, paid, received from keyed
        union all
        -- The rest of a day, beyond its keys, belongs to calls without a key.
        select null, counterpart, -paid, -received from keyed
        union all
        select null, counterpart, paid, received from ledger_daily where ${ofSelection(input)} and ${isWholeDay}
        union all
        select key_id, counterpart, paid, received from ${await besideWholeDays(tx, input)}
      ) sums
      group by key_id
    )
    select key_id, amount, sent from spent where amount <> 0 or sent <> 0 order by amount desc, sent desc, key_id`.execute(
    tx,
  );
  return rows;
}
