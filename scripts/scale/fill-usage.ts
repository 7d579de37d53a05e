import { sql } from 'kysely';
import type { Database, Transaction } from '../../server/src/platform/db/database.ts';
import { inTransaction } from '../../server/src/platform/db/in-transaction.ts';
import { skipForeignKeys } from './fill-ledger.ts';

/** Number of windows per statement. */
const BATCH = 5_000;
/** Number of answers per window, which is more than one page. */
const ANSWERS = 60;
/** The windows are spread over fewer days than the 90 for which individual answers are stored. */
const DAYS = 80;

type Options = {
  /** Users who own the windows. The first one owns the newest, and every tenth of the others. */
  userIds: string[];
  /** The first user's API key, which the windows of that user have. */
  keyId: string;
  count: number;
  print: (done: number, of: string) => void;
};

/** Inserts closed usage windows. Each has answers, a hold, and a transfer that is not sealed yet. */
export async function fillUsage(db: Database, { userIds, keyId, count, print }: Options): Promise<void> {
  for (let day = 0; day <= DAYS; day++)
    await sql`select usage_prepare_day((now() at time zone 'UTC')::date - ${day}::int)`.execute(db);
  for (let from = 0; from < count; from += BATCH) {
    const upTo = Math.min(from + BATCH, count);
    await inTransaction(db, (tx) => insertWindows(tx, { userIds, keyId, from, upTo, count }));
    print(upTo, `usage windows with ${ANSWERS} answers each`);
  }
}

async function insertWindows(
  tx: Transaction,
  { userIds, keyId, from, upTo, count }: Omit<Options, 'print'> & { from: number; upTo: number },
): Promise<void> {
  await skipForeignKeys(tx);
  const others = userIds.length - 1;
  await sql`
    with planned as materialized (
      select gen_random_uuid() as id, gen_random_uuid() as hold_id,
        (${userIds}::text[])[case when age % 10 = 0 then 1 else 2 + age * 7919 % ${others} end] as user_id,
        case when age % 10 = 0 then ${keyId}::uuid end as key_id,
        now() - interval '3 minutes' - age * interval '1 day' * ${DAYS - 1} / ${count} as opened_at
      from generate_series(${from}::bigint, ${upTo}::bigint - 1) age
    ), answered as (
      insert into usage_events (day, window_id, n, id, at, amount_micro, quantities)
      select (opened_at at time zone 'UTC')::date, planned.id, n, gen_random_uuid(), opened_at + n * interval '1 second',
        100 + n % 10, jsonb_build_object('prompt_tokens', 20 + n, 'completion_tokens', 5 + n)
      from planned, generate_series(1, ${ANSWERS}::int) n
      returning *
    ), used as materialized (
      select window_id, count(*) as events, sum(amount_micro)::bigint as used_micro,
        jsonb_build_object('prompt_tokens', sum((quantities ->> 'prompt_tokens')::bigint),
          'completion_tokens', sum((quantities ->> 'completion_tokens')::bigint)) as quantities,
        usage_digest(row(answered.*)::usage_events order by n) as digest
      from answered group by window_id
    ), charged as materialized (
      select p.*, u.*, 'user:' || user_id as account_id, opened_at + interval '2 minutes' as closed_at,
        jsonb_strip_nulls(jsonb_build_object('asset_name', 'Crumb', 'usage_window_id', id, 'key_id', key_id,
          'events', u.events::text, 'digest', encode(u.digest, 'hex'),
          'prompt_tokens', u.quantities ->> 'prompt_tokens',
          'completion_tokens', u.quantities ->> 'completion_tokens')) as refs
      from planned p join used u on u.window_id = p.id
    ), held as (
      insert into ledger_holds (id, debit_account_id, credit_account_id, amount, amount_asked, kind, description, refs,
        idempotency_key, status, settled_amount, expires_at, created_at, ended_at)
      select hold_id, account_id, 'revenue:llm_inference', used_micro, used_micro, 'charge', 'Chat with Crumb', refs,
        'usage:' || id, 'settled', used_micro, closed_at + interval '1 hour', opened_at, closed_at
      from charged
    ), opened as (
      insert into usage_windows (id, user_id, key_id, source, leader_id, hold_id, events, used_micro, quantities, digest,
        opened_at, closed_at)
      select id, user_id, key_id, 'model:crumb', gen_random_uuid(), hold_id, events, used_micro, quantities, digest,
        opened_at, closed_at
      from charged
    ), moved as (
      insert into ledger_transfers (debit_account_id, credit_account_id, amount, kind, description, refs, hold_id, created_at)
      select account_id, 'revenue:llm_inference', used_micro, 'charge', 'Chat with Crumb', refs, hold_id, closed_at
      from charged order by closed_at
    )
    update ledger_accounts a set debits_posted = a.debits_posted + paid.amount
    from (select account_id, sum(used_micro)::bigint as amount from charged group by account_id) paid
    where a.id = paid.account_id`.execute(tx);
}
