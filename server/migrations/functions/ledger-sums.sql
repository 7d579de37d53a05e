-- Returns both sides of the transfers after p_after and up to p_upto, one row per side. The counterpart is the id of
-- the system account on the other side, or 'users'. Only the owner of an API key sees it: the payer, or the recipient
-- of a refund. A recipient of sent credits does not learn which key was used.
create or replace function ledger_sides(p_after bigint, p_upto bigint)
returns table (
  account_id text, key_id text, day date, counterpart text, paid bigint, received bigint, transfers bigint
) language sql stable as $$
  select debit_account_id, case when debit_account_id like 'user:%' then refs ->> 'key_id' end,
    (created_at at time zone 'UTC')::date,
    case when credit_account_id like 'user:%' then 'users' else credit_account_id end, amount, 0::bigint, 1::bigint
  from ledger_transfers where seq > p_after and seq <= p_upto
  union all
  select credit_account_id, case when kind = 'refund' then refs ->> 'key_id' end,
    (created_at at time zone 'UTC')::date,
    case when debit_account_id like 'user:%' then 'users' else debit_account_id end, 0::bigint, amount, 1::bigint
  from ledger_transfers where seq > p_after and seq <= p_upto
$$;

-- Sums of ledger_sides: by key and day, and in total.
create or replace function ledger_sum_days(p_after bigint, p_upto bigint)
returns table (
  account_id text, key_id text, day date, counterpart text, paid bigint, received bigint, transfers bigint
) language sql stable as $$
  select account_id, key_id, day, counterpart, sum(paid)::bigint, sum(received)::bigint, count(*)
  from ledger_sides(p_after, p_upto)
  group by 1, 2, 3, 4
$$;

create or replace function ledger_sum_transfers(p_after bigint, p_upto bigint)
returns table (account_id text, counterpart text, paid bigint, received bigint, transfers bigint)
language sql stable as $$
  select account_id, counterpart, sum(paid)::bigint, sum(received)::bigint, count(*)
  from ledger_sides(p_after, p_upto)
  group by 1, 2
$$;
