import { formatBgl } from '@bakehouse/contract/money';
import { sql } from 'kysely';
import type { Transaction } from '../../../platform/db/database.ts';
import { oneOf } from '../ledger/ledger-answers.ts';
import { windowDays } from '../usage/usage-queries.ts';

export type Check = { name: string; ok: boolean; detail: string };

/** Checks only the events of this many days, because older ones may have been dropped. */
const DAYS = 85;

/** Matches events (`usage_events e`) on the days of a window with the hold `h` and the transfer `t`. */
const days = sql`e.day between ${windowDays.first} and ${windowDays.last}`;

/**
 * Ids of windows that transfers or events refer to, but whose row is missing or does not include the events'
 * days.
 */
const gone = sql`
  select t.refs ->> 'usage_window_id' as id from ledger_transfers t
  where t.refs ->> 'usage_window_id' is not null
    and not exists (select from usage_windows w where w.hold_id = t.hold_id)
  union
  select e.window_id::text from usage_events e
  where not exists (
    select from usage_windows w
    join ledger_holds h on h.id = w.hold_id
    left join ledger_transfers t on t.hold_id = w.hold_id
    where w.id = e.window_id and ${days}
  )`;

/**
 * True if a window's charge is its usage, at most the hold, and its transfer has the same values as the
 * window.
 */
const isSealed = sql`
  case when t.seq is null then w.closed_at is null or h.status = 'released'
  else w.closed_at is not null
    and (t.amount, t.debit_account_id, t.refs ->> 'usage_window_id', t.refs ->> 'key_id',
        t.refs ->> 'events', t.refs ->> 'digest')
      is not distinct from (least(w.used_micro, h.amount), 'user:' || w.user_id, w.id::text, w.key_id::text,
        w.events::text, encode(w.digest, 'hex'))
    and t.refs @> (select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each_text(w.quantities))
  end`;

/**
 * The usage of a closed window that was not charged, which the installation bears. If the hold had expired,
 * this is all of it. Otherwise it is the part above the hold, because the database has lost a growth of the
 * hold.
 */
const leftUncharged = sql`
  case when w.closed_at is not null and (t.seq is not null or h.status = 'released')
    then nullif(w.used_micro - coalesce(t.amount, 0), 0) end`;

/**
 * True if the count, sums and digest of a window match its events. Compares the digest first, because
 * quantities that were tampered with may not be numbers.
 */
const hasItsEvents = sql`
  case when (w.events, w.used_micro, w.digest) is distinct from (e.events, e.used, e.digest) then false
  else w.quantities = (
    select coalesce(jsonb_object_agg(key, total), '{}') from (
      select key, sum(value::bigint) as total
      from usage_events e cross join jsonb_each_text(e.quantities)
      where e.window_id = w.id and ${days} group by key
    ) sums
  ) end`;

type Judged = {
  windows: bigint;
  wrong: bigint;
  example: string | null;
  unchargedWindows: bigint;
  unchargedMicro: bigint;
};

/**
 * Checks every usage window: its sums and digest must match its events while they are stored, and its
 * transfer must contain them. Usage that a hold did not cover is no error, but is counted.
 */
export async function checkUsage(tx: Transaction): Promise<Check> {
  const { rows } = await sql<Judged>`
    with judged as (
      select w.id::text, ${isSealed} and (
        w.opened_at < now() - ${DAYS} * interval '1 day' or ${hasItsEvents}
      ) as ok, ${leftUncharged} as uncharged
      from usage_windows w
      join ledger_holds h on h.id = w.hold_id
      left join ledger_transfers t on t.hold_id = w.hold_id
      left join lateral (
        select count(*) as events, coalesce(sum(e.amount_micro), 0)::bigint as used, usage_digest(e order by e.n) as digest
        from usage_events e where e.window_id = w.id and ${days}
      ) e on true
      union all
      select id, false, null from (${gone}) gone
    )
    select count(*) as windows, count(*) filter (where not ok) as wrong, (min(id) filter (where not ok)) as example,
      count(uncharged) as "unchargedWindows", coalesce(sum(uncharged), 0)::bigint as "unchargedMicro"
    from judged`.execute(tx);
  const { windows, wrong, example, unchargedWindows, unchargedMicro } = oneOf(rows);
  const except =
    unchargedWindows === 0n
      ? ''
      : `, except that ${unchargedWindows} of them had holds that ran out or did not cover it: ${formatBgl(unchargedMicro)} BGL were not charged`;
  return {
    name: 'usage',
    ok: wrong === 0n,
    detail:
      wrong === 0n
        ? `All ${windows} usage windows charge the cost of their events and match their digest${except}`
        : `${wrong} usage windows do not match their events or their transfer, e.g. ${example}`,
  };
}
