-- What was paid with each API key, and what came back of it, in sealed transfers, by counterpart: in all, and on each day
-- (UTC). The sealer adds to both with ledger_sealed_totals and ledger_daily, so that the sums of a key read days and not
-- transfers.
create table ledger_key_totals (
  account_id text not null references ledger_accounts (id),
  -- refs ->> 'key_id' of the transfers.
  key_id text not null,
  -- As in ledger_sealed_totals.
  counterpart text not null,
  paid bigint not null,
  received bigint not null,
  transfers bigint not null,
  primary key (account_id, key_id, counterpart)
);
create table ledger_key_daily (
  account_id text not null references ledger_accounts (id),
  key_id text not null,
  day date not null,
  counterpart text not null,
  paid bigint not null,
  received bigint not null,
  transfers bigint not null,
  primary key (account_id, key_id, day, counterpart)
);

-- As before, and each key apart; null where there is none. A key is its payer's: who was sent credits is not told with
-- which key, and of what comes in only a refund belongs to one.
drop function ledger_sum_days(bigint, bigint);
create function ledger_sum_days(p_after bigint, p_upto bigint)
returns table (
  account_id text, key_id text, day date, counterpart text, paid bigint, received bigint, transfers bigint
) language sql stable as $$
  select account_id, key_id, day, case when other_id like 'user:%' then 'users' else other_id end,
    sum(paid)::bigint, sum(received)::bigint, count(*)
  from (
    select debit_account_id as account_id, credit_account_id as other_id, amount as paid, 0 as received,
      (created_at at time zone 'UTC')::date as day,
      case when debit_account_id like 'user:%' then refs ->> 'key_id' end as key_id
    from ledger_transfers where seq > p_after and seq <= p_upto
    union all
    select credit_account_id, debit_account_id, 0, amount, (created_at at time zone 'UTC')::date,
      case when kind = 'refund' then refs ->> 'key_id' end
    from ledger_transfers where seq > p_after and seq <= p_upto
  ) sides
  group by 1, 2, 3, 4
$$;

insert into ledger_key_daily
select * from ledger_sum_days(0, coalesce((select max(seq) from ledger_seals), 0)) where key_id is not null;
insert into ledger_key_totals
select account_id, key_id, counterpart, sum(paid), sum(received), sum(transfers)
from ledger_key_daily group by account_id, key_id, counterpart;
