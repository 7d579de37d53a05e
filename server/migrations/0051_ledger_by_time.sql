-- What the ledger's pages read at any size: a user's transfers by time, and sums of what is sealed.

-- Statements and their sums are about periods.
drop index ledger_transfers_by_debit;
drop index ledger_transfers_by_credit;
create index ledger_transfers_by_debit on ledger_transfers (debit_account_id, created_at, seq);
create index ledger_transfers_by_credit on ledger_transfers (credit_account_id, created_at, seq);

-- Per account what it paid and received in sealed transfers. The sealer adds to them in the transaction
-- of the seals, one batch after the other, so that no two payers wait for each other. What the transfers
-- after the newest seal moved comes on top.
create table ledger_sealed_totals (
  account_id text not null references ledger_accounts (id),
  -- Id of the system account on the other side; 'users' for all users together.
  counterpart text not null,
  paid bigint not null,
  received bigint not null,
  transfers bigint not null,
  primary key (account_id, counterpart)
);

-- The two sides of the transfers after p_after and up to p_upto, summed.
create function ledger_sum_transfers(p_after bigint, p_upto bigint)
returns table (account_id text, counterpart text, paid bigint, received bigint, transfers bigint)
language sql stable as $$
  select account_id, case when other_id like 'user:%' then 'users' else other_id end,
    sum(paid)::bigint, sum(received)::bigint, count(*)
  from (
    select debit_account_id as account_id, credit_account_id as other_id, amount as paid, 0 as received
    from ledger_transfers where seq > p_after and seq <= p_upto
    union all
    select credit_account_id, debit_account_id, 0, amount
    from ledger_transfers where seq > p_after and seq <= p_upto
  ) sides
  group by 1, 2
$$;

insert into ledger_sealed_totals
select * from ledger_sum_transfers(0, coalesce((select max(seq) from ledger_seals), 0));
