import { sql } from 'kysely';
import type { Transaction } from '../../../platform/db/database.ts';
import type { Check } from '../verification/verify-ledger.ts';

/** Days whose events are looked at: what is older may have been dropped. */
const DAYS = 85;

/**
 * Whether every closed window was charged what its events cost, and its transfer carries their count and
 * digest; of the last days that is computed from the events themselves.
 */
export async function checkUsage(tx: Transaction): Promise<Check> {
  const { rows } = await sql<{ windows: bigint; wrong: bigint; example: string | null }>`
    with judged as (
      select w.id, (
        case when w.closed_at is null or h.status = 'released' or w.used_micro = 0 then true
        else (t.amount, t.refs ->> 'events', t.refs ->> 'digest')
          is not distinct from (w.used_micro, w.events::text, encode(w.digest, 'hex')) end
      ) and (
        w.opened_at < now() - ${DAYS} * interval '1 day' or w.events = 0
        or (w.events, w.used_micro, w.digest) is not distinct from (e.events, e.used, e.digest)
      ) as ok
      from usage_windows w
      join ledger_holds h on h.id = w.hold_id
      left join ledger_transfers t on t.hold_id = w.hold_id
      left join lateral (
        select count(*) as events, sum(e.amount_micro)::bigint as used, usage_digest(e order by e.n) as digest
        from usage_events e where e.window_id = w.id
      ) e on true
    )
    select count(*) as windows, count(*) filter (where not ok) as wrong, (min(id::text) filter (where not ok)) as example
    from judged`.execute(tx);
  const { windows = 0n, wrong = 0n, example = null } = rows[0] ?? {};
  return {
    name: 'usage',
    ok: wrong === 0n,
    detail:
      wrong === 0n
        ? `All ${windows} usage windows charge what their events cost, and carry their digest`
        : `${wrong} usage windows do not match their events or their transfer, e.g. ${example}`,
  };
}
