-- Ledger operations: see docs/ledger.md. Each is a single call in the caller's transaction and returns an outcome; a
-- refusal changes nothing and leaves the transaction usable. All functions acquire locks in the same order: the hold,
-- then the users' accounts by id.

-- Opens ledger accounts for users without one: users who have not signed in since they were created, and users whose
-- sign-up was interrupted. Must be called before any account is locked.
create or replace function ledger_open_accounts(p_user_ids text[]) returns void language sql as $$
  insert into ledger_accounts (id, kind, owner_user_id, credits_posted, debits_posted, debits_pending, given)
  select 'user:' || id, 'user', id, 0, 0, 0, 0 from users where id = any (p_user_ids)
  order by id
  on conflict do nothing
$$;

-- Locks the user accounts among the two, ordered by id. `available` is the balance minus the holds. `sendable` may be
-- less: holds use given credits first, and given credits that no hold needs cannot be sent. All results are null if the
-- debit account is a system account, which has no limit.
create or replace function ledger_lock(p_debit text, p_credit text, out available bigint, out sendable bigint, out given bigint)
language plpgsql as $$
declare
  v_account record;
begin
  -- Assign the transaction id before the transfer's seq: the sealer relies on that order.
  perform pg_current_xact_id();
  if p_credit like 'user:%' and not exists (select from ledger_accounts where id = p_credit) then
    perform ledger_open_accounts(array[substr(p_credit, length('user:') + 1)]);
  end if;
  for v_account in
    select a.id, a.credits_posted - a.debits_posted as balance, a.debits_pending, a.given
    from ledger_accounts a
    where a.id in (p_debit, p_credit) and a.kind = 'user'
    order by a.id
    for no key update
  loop
    if v_account.id = p_debit then
      available := v_account.balance - v_account.debits_pending;
      sendable := v_account.balance - greatest(v_account.debits_pending, v_account.given);
      given := v_account.given;
    end if;
  end loop;
end $$;

-- Returns what the user owes the house.
create or replace function ledger_owed(p_user_id text) returns bigint language sql stable as $$
  select coalesce(sum(case debit_account_id when 'receivable:' || p_user_id then amount else -amount end), 0)::bigint
  from ledger_transfers
  where debit_account_id = 'receivable:' || p_user_id or credit_account_id = 'receivable:' || p_user_id
$$;

-- Deducts given credits from their portions, soonest expiry first.
create or replace function ledger_take_given(p_account_id text, p_amount bigint) returns void language sql as $$
  update ledger_given g set remaining = g.remaining - portions.taken
  from (
    select id, least(remaining, p_amount - (sum(remaining) over in_turn - remaining)) as taken
    from ledger_given where account_id = p_account_id and remaining > 0
    window in_turn as (order by expires_at, id)
  ) portions
  where portions.id = g.id and portions.taken > 0
$$;

-- p_given_until: the amount arrives as given credits that expire then ('infinity': never); null: as bought credits.
-- Outcomes: ok, replayed (same key, same transfer), idempotency_conflict (same key, different transfer),
-- insufficient_funds (`available` is the balance that can be spent), not_sendable (the balance suffices, but only
-- `sendable` may be sent to another user), owed (like not_sendable, because the sender owes the house).
create or replace function ledger_transfer(
  p_debit text, p_credit text, p_amount bigint, p_kind text, p_description text, p_refs jsonb,
  p_idempotency_key text, p_given_until timestamptz default null,
  out outcome text, out transfer_id uuid, out available bigint, out sendable bigint
) language plpgsql as $$
declare
  v_given_left bigint; -- null for a system account
  v_given_paid bigint;
  v_given_received bigint := case when p_given_until is null then 0 else p_amount end;
  v_owed bigint := 0;
begin
  select l.available, l.sendable, l.given into available, sendable, v_given_left from ledger_lock(p_debit, p_credit) l;
  if p_debit like 'user:%' and p_credit like 'user:%' then
    v_owed := ledger_owed(substr(p_debit, length('user:') + 1));
    sendable := greatest(sendable - v_owed, 0);
  end if;
  v_given_paid := case when p_credit like 'user:%' then 0 else least(coalesce(v_given_left, 0), p_amount) end;

  loop
    select t.id,
      case when (t.debit_account_id, t.credit_account_id, t.amount, t.kind) = (p_debit, p_credit, p_amount, p_kind)
        then 'replayed' else 'idempotency_conflict' end
    into transfer_id, outcome
    from ledger_transfers t where t.idempotency_key = p_idempotency_key;
    if found then return; end if;

    if available < p_amount then
      outcome := 'insufficient_funds';
      return;
    end if;
    if sendable < p_amount and p_credit like 'user:%' then
      outcome := case when v_owed > 0 then 'owed' else 'not_sendable' end;
      return;
    end if;

    insert into ledger_transfers as t
      (debit_account_id, credit_account_id, amount, kind, description, refs, idempotency_key, given)
    values (p_debit, p_credit, p_amount, p_kind, p_description, p_refs, p_idempotency_key,
      v_given_paid + v_given_received)
    on conflict (idempotency_key) do nothing
    returning t.id into transfer_id;
    -- Not found: a concurrent call that locked other accounts has used the key. Loop to compare its transfer.
    exit when found;
  end loop;

  update ledger_accounts a set
    debits_posted = a.debits_posted + case a.id when p_debit then p_amount else 0 end,
    credits_posted = a.credits_posted + case a.id when p_credit then p_amount else 0 end,
    given = a.given + case a.id when p_debit then -v_given_paid else v_given_received end
  where a.id in (p_debit, p_credit) and a.kind = 'user';
  if v_given_paid > 0 then perform ledger_take_given(p_debit, v_given_paid); end if;
  if v_given_received > 0 then
    insert into ledger_given (account_id, transfer_id, amount, remaining, expires_at)
    values (p_credit, transfer_id, p_amount, p_amount, p_given_until);
  end if;
  outcome := 'ok';
  available := available - p_amount;
end $$;

-- Withdraws given credits that expired by p_now from up to p_limit accounts; returns one row per account. Given credits
-- that open holds need remain until the holds end, even if the account has bought credits: given credits are spent
-- first.
create or replace function ledger_expire_given(p_now timestamptz, p_limit integer)
returns table (account_id text, amount bigint) language plpgsql as $$
#variable_conflict use_column
begin
  for account_id, amount in
    select a.id, a.given - a.debits_pending
    from ledger_accounts a
    where a.kind = 'user' and a.given > a.debits_pending
      and a.id in (select g.account_id from ledger_given g where g.expires_at <= p_now and g.remaining > 0)
    order by a.id
    limit p_limit
    for no key update
  loop
    amount := least(amount, (
      select sum(g.remaining) from ledger_given g
      where g.account_id = ledger_expire_given.account_id and g.expires_at <= p_now
    ));
    continue when amount = 0;
    perform ledger_transfer(account_id, 'grants', amount, 'expiry', 'Given credits that expired', '{}', null);
    return next;
  end loop;
end $$;

-- Collects what the user owes, up to the amount that the user could send. Returns the collected amount.
create or replace function ledger_collect(p_user_id text) returns bigint language plpgsql as $$
declare
  v_account text := 'user:' || p_user_id;
  v_receivable text := 'receivable:' || p_user_id;
  v_sendable bigint;
  v_owed bigint;
begin
  select l.sendable into v_sendable from ledger_lock(v_account, v_receivable) l;
  -- Read under the lock: no other call collects from this user.
  v_owed := least(ledger_owed(p_user_id), v_sendable);
  if v_owed > 0 then
    update ledger_accounts set debits_posted = debits_posted + v_owed where id = v_account;
    insert into ledger_transfers (debit_account_id, credit_account_id, amount, kind, description, refs)
    values (v_account, v_receivable, v_owed, 'chargeback', 'Payment that was taken back', '{}');
  end if;
  return greatest(coalesce(v_owed, 0), 0);
end $$;

-- Records a payment that the payer's bank reversed: the user owes it, and as much as possible is collected immediately.
-- `owed` is the user's total debt afterwards, including earlier debts. Outcomes: ok, replayed, idempotency_conflict.
create or replace function ledger_charge_back(
  p_user_id text, p_amount bigint, p_description text, p_refs jsonb, p_idempotency_key text,
  out outcome text, out transfer_id uuid, out collected bigint, out owed bigint
) language plpgsql as $$
begin
  perform ledger_open_accounts(array[p_user_id]);
  insert into ledger_accounts (id, kind, owner_user_id) values ('receivable:' || p_user_id, 'receivable', p_user_id)
  on conflict do nothing;
  select t.outcome, t.transfer_id into outcome, transfer_id
  from ledger_transfer('receivable:' || p_user_id, 'payments', p_amount, 'chargeback', p_description, p_refs,
    p_idempotency_key) t;
  collected := case outcome when 'ok' then ledger_collect(p_user_id) else 0 end;
  owed := ledger_owed(p_user_id);
end $$;
