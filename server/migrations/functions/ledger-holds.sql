-- Outcomes: ok, replayed, idempotency_conflict, insufficient_funds.
create or replace function ledger_hold(
  p_debit text, p_credit text, p_amount bigint, p_kind text, p_description text, p_refs jsonb,
  p_expires_at timestamptz, p_idempotency_key text,
  out outcome text, out hold_id uuid, out available bigint
) language plpgsql as $$
begin
  select l.available into available from ledger_lock(p_debit, p_credit) l;

  loop
    select h.id,
      case when (h.debit_account_id, h.credit_account_id, h.amount_asked, h.kind) = (p_debit, p_credit, p_amount, p_kind)
        then 'replayed' else 'idempotency_conflict' end
    into hold_id, outcome
    from ledger_holds h where h.idempotency_key = p_idempotency_key;
    if found then return; end if;

    if available < p_amount then
      outcome := 'insufficient_funds';
      return;
    end if;

    insert into ledger_holds as h
      (debit_account_id, credit_account_id, amount, amount_asked, kind, description, refs, expires_at, idempotency_key)
    values (p_debit, p_credit, p_amount, p_amount, p_kind, p_description, p_refs, p_expires_at, p_idempotency_key)
    on conflict (idempotency_key) do nothing
    returning h.id into hold_id;
    exit when found;
  end loop;

  update ledger_accounts set debits_pending = debits_pending + p_amount where id = p_debit and kind = 'user';
  outcome := 'ok';
  available := available - p_amount;
end $$;

-- Raises the hold to an amount and an expiry; null leaves the value unchanged. Never reduces either, so it is
-- idempotent.
-- Outcomes: ok, insufficient_funds (`missing` is the additional amount that the extension needs), ended, not_found.
create or replace function ledger_extend_hold(
  p_hold_id uuid, p_amount bigint, p_expires_at timestamptz,
  out outcome text, out missing bigint, out available bigint, out debit_account_id text
) language plpgsql as $$
declare
  v_hold ledger_holds;
begin
  select * into v_hold from ledger_holds where id = p_hold_id for no key update;
  if not found then
    outcome := 'not_found';
    return;
  end if;
  if v_hold.status <> 'pending' then
    outcome := 'ended';
    return;
  end if;
  debit_account_id := v_hold.debit_account_id;

  missing := greatest(p_amount - v_hold.amount, 0);
  if missing > 0 then
    select l.available into available from ledger_lock(v_hold.debit_account_id, v_hold.credit_account_id) l;
    if available < missing then
      outcome := 'insufficient_funds';
      return;
    end if;
    update ledger_accounts set debits_pending = debits_pending + missing
    where id = v_hold.debit_account_id and kind = 'user';
  end if;

  update ledger_holds set
    amount = greatest(amount, p_amount),
    expires_at = greatest(expires_at, p_expires_at)
  where id = p_hold_id;
  outcome := 'ok';
end $$;

-- Raises an open hold by p_by (ledger_extend_hold raises it to a total), and optionally extends its expiry.
-- Not idempotent: each call that returns ok has reserved p_by more.
-- Outcomes: see ledger_extend_hold; `amount` is the new total of the hold, null if it was not raised.
create or replace function ledger_grow_hold(
  p_hold_id uuid, p_by bigint, p_expires_at timestamptz,
  out outcome text, out amount bigint, out available bigint, out debit_account_id text
) language plpgsql as $$
declare
  v_amount bigint;
begin
  select h.amount + p_by into v_amount from ledger_holds h where h.id = p_hold_id for no key update;
  select e.outcome, e.available, e.debit_account_id into outcome, available, debit_account_id
  from ledger_extend_hold(p_hold_id, v_amount, p_expires_at) e;
  if outcome = 'ok' then amount := v_amount; end if;
end $$;

-- Charges an amount between 0 and the hold's amount and frees the rest; 0 releases the hold. A hold is settled once:
-- the same amount again is a replay, and a different amount is refused.
-- Outcomes: ok, replayed, exceeds_hold, ended (released, or settled with another amount), not_found.
create or replace function ledger_settle(
  p_hold_id uuid, p_amount bigint,
  out outcome text, out transfer_id uuid, out debit_account_id text
) language plpgsql as $$
declare
  v_hold ledger_holds;
  v_given bigint;
begin
  select * into v_hold from ledger_holds where id = p_hold_id for no key update;
  if not found then
    outcome := 'not_found';
    return;
  end if;
  debit_account_id := v_hold.debit_account_id;

  if v_hold.status <> 'pending' then
    outcome := case when coalesce(v_hold.settled_amount, 0) = p_amount then 'replayed' else 'ended' end;
    if outcome = 'replayed' then
      select t.id into transfer_id from ledger_transfers t where t.hold_id = p_hold_id;
    end if;
    return;
  end if;
  if p_amount > v_hold.amount then
    outcome := 'exceeds_hold';
    return;
  end if;

  select least(coalesce(l.given, 0), p_amount) into v_given
  from ledger_lock(v_hold.debit_account_id, v_hold.credit_account_id) l;
  update ledger_accounts a set
    debits_pending = a.debits_pending - case a.id when v_hold.debit_account_id then v_hold.amount else 0 end,
    debits_posted = a.debits_posted + case a.id when v_hold.debit_account_id then p_amount else 0 end,
    credits_posted = a.credits_posted + case a.id when v_hold.credit_account_id then p_amount else 0 end,
    given = a.given - case a.id when v_hold.debit_account_id then v_given else 0 end
  where a.id in (v_hold.debit_account_id, v_hold.credit_account_id) and a.kind = 'user';
  if v_given > 0 then perform ledger_take_given(v_hold.debit_account_id, v_given); end if;

  update ledger_holds h set
    status = case when p_amount > 0 then 'settled' else 'released' end,
    settled_amount = nullif(p_amount, 0),
    ended_at = now()
  where h.id = p_hold_id;

  if p_amount > 0 then
    insert into ledger_transfers as t
      (debit_account_id, credit_account_id, amount, kind, description, refs, hold_id, given)
    values (v_hold.debit_account_id, v_hold.credit_account_id, p_amount, v_hold.kind, v_hold.description,
      v_hold.refs, p_hold_id, v_given)
    returning t.id into transfer_id;
  end if;
  outcome := 'ok';
end $$;

-- Releases up to p_limit holds that expired by p_now; returns the debit accounts, one row per hold. Locks the API keys
-- whose budgets count the holds in the same order as ending all keys of a user: the web app's key first, then by id.
create or replace function ledger_expire_holds(p_now timestamptz, p_limit integer)
returns table (hold_id uuid, debit_account_id text) language plpgsql as $$
#variable_conflict use_column
declare
  v_holds uuid[];
begin
  select array_agg(id) into v_holds from (
    select id from ledger_holds
    where status = 'pending' and expires_at <= p_now
    order by expires_at
    limit p_limit
    for no key update skip locked
  ) expired;

  perform from ledger_accounts
  where kind = 'user' and id in (select debit_account_id from ledger_holds where id = any (v_holds))
  order by id
  for no key update;

  perform from api_keys
  where id in (select (refs ->> 'key_id')::uuid from ledger_holds where id = any (v_holds))
  order by for_web_app desc, id
  for no key update;

  update ledger_accounts a set debits_pending = a.debits_pending - expired.amount
  from (
    select debit_account_id, sum(amount)::bigint as amount
    from ledger_holds where id = any (v_holds) group by debit_account_id
  ) expired
  where a.id = expired.debit_account_id and a.kind = 'user';

  return query
    update ledger_holds set status = 'released', ended_at = now()
    where id = any (v_holds)
    returning id, debit_account_id;
end $$;
