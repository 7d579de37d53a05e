import { formatBgl } from '@bakehouse/contract/money';
import { sql } from 'kysely';
import type { Transaction } from '../../../platform/db/database.ts';
import { oneOf } from '../ledger/ledger-answers.ts';
import { windowDays } from '../usage/usage-queries.ts';

export type Check = { name: string; ok: boolean; detail: string };

/** Checks the events of this many days: older ones may have been dropped. */
const DAYS = 85;

/** Matches the days of a window's events in `usage_events e`, with its hold `h` and its transfer `t`. */
const days = sql`e.day between ${windowDays.first} and ${windowDays.last}`;

/** Ids of windows with transfers or events whose window row is missing, or whose days do not match. */
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

/** True if a window's charge is its usage up to the hold, and its transfer matches the window. */
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
 * The uncharged usage of a closed window: all of it if the hold had expired, or else the part beyond the
 * hold, because the database lost its growth. The installation bears it.
 */
const leftUncharged = sql`
  case when w.closed_at is not null and (t.seq is not null or h.status = 'released')
    then nullif(w.used_micro - coalesce(t.amount, 0), 0) end`;

/**
 * True if a window has the count, sums and digest of its events. Check the digest first: manipulated
 * quantities may not be numbers.
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
 * Checks that every usage window has the sums and the digest of its events, as long as they are stored, and
 * that its transfer contains them. Windows whose holds did not cover their usage are correct, and are counted
 * separately.
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
