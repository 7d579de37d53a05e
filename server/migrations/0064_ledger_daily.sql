-- What each account paid and received on each day (UTC) in sealed transfers, by counterpart: the sealer adds to it with
-- ledger_sealed_totals, so that a sum over months reads days and not transfers.
create table ledger_daily (
  account_id text not null references ledger_accounts (id),
  day date not null,
  -- As in ledger_sealed_totals.
  counterpart text not null,
  paid bigint not null,
  received bigint not null,
  transfers bigint not null,
  primary key (account_id, day, counterpart)
);

-- ledger_sum_transfers, by day.
create function ledger_sum_days(p_after bigint, p_upto bigint)
returns table (account_id text, day date, counterpart text, paid bigint, received bigint, transfers bigint)
language sql stable as $$
  select account_id, day, case when other_id like 'user:%' then 'users' else other_id end,
    sum(paid)::bigint, sum(received)::bigint, count(*)
  from (
    select debit_account_id as account_id, credit_account_id as other_id, amount as paid, 0 as received,
      (created_at at time zone 'UTC')::date as day
    from ledger_transfers where seq > p_after and seq <= p_upto
    union all
    select credit_account_id, debit_account_id, 0, amount, (created_at at time zone 'UTC')::date
    from ledger_transfers where seq > p_after and seq <= p_upto
  ) sides
  group by 1, 2, 3
$$;

insert into ledger_daily select * from ledger_sum_days(0, coalesce((select max(seq) from ledger_seals), 0));
