import { formatBgl } from '@bakehouse/contract/money';
import { type RawBuilder, sql } from 'kysely';
import type { Transaction } from '../../../platform/db/database.ts';
import { oneOf } from '../ledger/ledger-answers.ts';
import { windowDays } from '../usage/usage-queries.ts';
import type { Check } from './verify-ledger.ts';

/** Days whose events are looked at: what is older may have been dropped. */
const DAYS = 85;

type Windows = {
  /** Which of `usage_windows w` are looked at. */
  which: RawBuilder<unknown>;
  /** The ids of windows that are gone although something is left of them. */
  gone: RawBuilder<unknown>;
};

/** Where the events of a window are, of `usage_events e`, with its hold `h` and its transfer `t`. */
const days = sql`e.day between ${windowDays.first} and ${windowDays.last}`;

const sealedSince = (seq: bigint) => sql`
  select t.refs ->> 'usage_window_id' as id from ledger_transfers t
  where t.seq > ${seq} and t.refs ->> 'usage_window_id' is not null
    and not exists (select from usage_windows w where w.hold_id = t.hold_id)`;

const all: Windows = {
  which: sql`true`,
  // Also events on days on which their window was not there: with its own they are not looked at.
  gone: sql`
    ${sealedSince(0n)}
    union
    select e.window_id::text from usage_events e
    where not exists (
      select from usage_windows w
      join ledger_holds h on h.id = w.hold_id
      left join ledger_transfers t on t.hold_id = w.hold_id
      where w.id = e.window_id and ${days}
    )`,
};

/** The open ones, and those whose transfer came after a seal. */
const since = (seq: bigint): Windows => ({
  which: sql`w.id in (
    select id from usage_windows where closed_at is null
    union
    select closed.id from ledger_transfers t join usage_windows closed on closed.hold_id = t.hold_id where t.seq > ${seq}
  )`,
  gone: sealedSince(seq),
});

/** A window was charged what was used in it, as far as its hold had that, and its transfer carries its count, sums and digest, whose it is and whose key. */
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
 * What of a closed window was not charged: all of it where its hold's time was over, else what the hold did not cover,
 * because a database had forgotten how it grew. The installation bears it.
 */
const leftUncharged = sql`
  case when w.closed_at is not null and (t.seq is not null or h.status = 'released')
    then nullif(w.used_micro - coalesce(t.amount, 0), 0) end`;

/** Its count, sums and digest are those of its events. Quantities that were tampered with may be no numbers: the digest is first. */
const hasItsEvents = sql`
  case when (w.events, w.used_micro, w.digest) is distinct from (e.events, e.used, e.digest) then false
  else w.quantities = (
    select coalesce(jsonb_object_agg(key, total), '{}') from (
      select key, sum(value::bigint) as total
      from usage_events e cross join jsonb_each_text(e.quantities)
      where e.window_id = w.id and ${days} group by key
    ) sums
  ) end`;

type Uncharged = { unchargedWindows: bigint; unchargedMicro: bigint };
type Judged = Uncharged & { windows: bigint; wrong: bigint; example: string | null };

/**
 * Whether every usage window has the sums and the digest of its events, of the last days, and the transfer that closed
 * it carries them: of all windows, or of those that are open and those whose transfer came after `afterSeq`. Those whose
 * holds did not cover what was used are right, and are told apart.
 */
export async function checkUsage(tx: Transaction, afterSeq: bigint | null): Promise<Check> {
  const { which, gone } = afterSeq === null ? all : since(afterSeq);
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
      where ${which}
      union all
      select id, false, null from (${gone}) gone
    )
    select count(*) as windows, count(*) filter (where not ok) as wrong, (min(id) filter (where not ok)) as example,
      count(uncharged) as "unchargedWindows", coalesce(sum(uncharged), 0)::bigint as "unchargedMicro"
    from judged`.execute(tx);
  const { windows, wrong, example, ...uncharged } = oneOf(rows);
  const looked =
    afterSeq === null ? `All ${windows} usage windows` : `The ${windows} usage windows since the last proof`;
  return {
    name: 'usage',
    ok: wrong === 0n,
    detail:
      wrong === 0n
        ? `${looked} charge what their events cost, and carry their digest${exceptUncharged(uncharged)}`
        : `${wrong} usage windows do not match their events or their transfer, e.g. ${example}`,
  };
}

function exceptUncharged({ unchargedWindows, unchargedMicro }: Uncharged): string {
  if (unchargedWindows === 0n) return '';
  return `, except that ${unchargedWindows} of them had holds that ran out or did not cover it: ${formatBgl(unchargedMicro)} BGL were not charged`;
}
