-- The ledger: accounts, transfers, holds and the seals that chain the transfers. See docs/ledger.md.
-- Amounts are whole micro-BGL. One row of ledger_transfers is both sides of a double entry, so the
-- sum over all accounts is zero by construction.

create table ledger_accounts (
  id text primary key,
  kind text not null constraint ledger_accounts_kind_known
    check (kind in ('user', 'grants', 'payments', 'revenue')),
  owner_user_id text unique references users (id),
  -- Running totals exist where a limit must be kept: on users' accounts. A system account has no
  -- limit; its balance is the sum of its transfers, so that no two payers wait for each other.
  credits_posted bigint constraint ledger_accounts_credits_posted_not_negative check (credits_posted >= 0),
  debits_posted bigint constraint ledger_accounts_debits_posted_not_negative check (debits_posted >= 0),
  debits_pending bigint constraint ledger_accounts_debits_pending_not_negative check (debits_pending >= 0),
  created_at timestamptz not null default now(),
  constraint ledger_accounts_available_not_negative
    check (credits_posted - debits_posted - debits_pending >= 0),
  constraint ledger_accounts_user_named_after_owner
    check ((kind = 'user') = (owner_user_id is not null) and id = coalesce('user:' || owner_user_id, id)),
  constraint ledger_accounts_user_has_totals
    check (num_nonnulls(credits_posted, debits_posted, debits_pending) = case kind when 'user' then 3 else 0 end)
);

insert into ledger_accounts (id, kind) values
  ('grants', 'grants'),
  ('payments', 'payments'),
  ('revenue:fine_tuning', 'revenue'),
  ('revenue:llm_inference', 'revenue'),
  ('revenue:deployment', 'revenue'),
  ('revenue:image_generation', 'revenue'),
  ('revenue:video_generation', 'revenue');

-- A promise of a later transfer: the amount is taken out of what the debit account can spend until
-- the hold is settled (with any amount up to it), released, or expires.
create table ledger_holds (
  id uuid primary key default uuidv7(),
  debit_account_id text not null references ledger_accounts (id),
  credit_account_id text not null references ledger_accounts (id),
  amount bigint not null constraint ledger_holds_amount_positive check (amount > 0),
  -- What was asked for before any extension: a repeated request is compared with this.
  amount_asked bigint not null,
  -- Kind of the transfer that a settlement makes.
  kind text not null constraint ledger_holds_kind_known
    check (kind in ('grant', 'purchase', 'transfer', 'charge', 'refund')),
  description text not null,
  refs jsonb not null constraint ledger_holds_refs_object check (jsonb_typeof(refs) = 'object'),
  idempotency_key text not null unique,
  status text not null default 'pending' constraint ledger_holds_status_known
    check (status in ('pending', 'settled', 'released')),
  settled_amount bigint constraint ledger_holds_settled_within_amount check (settled_amount between 1 and amount),
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  constraint ledger_holds_accounts_differ check (debit_account_id <> credit_account_id),
  constraint ledger_holds_settled_has_amount check ((status = 'settled') = (settled_amount is not null)),
  constraint ledger_holds_end_has_time check ((status = 'pending') = (ended_at is null))
);

create index ledger_holds_pending_by_expiry on ledger_holds (expires_at) where status = 'pending';
create index ledger_holds_pending_by_account on ledger_holds (debit_account_id) where status = 'pending';

create table ledger_transfers (
  seq bigint generated always as identity primary key,
  id uuid not null default uuidv7() unique,
  debit_account_id text not null references ledger_accounts (id),
  credit_account_id text not null references ledger_accounts (id),
  amount bigint not null constraint ledger_transfers_amount_positive check (amount > 0),
  kind text not null constraint ledger_transfers_kind_known
    check (kind in ('grant', 'purchase', 'transfer', 'charge', 'refund')),
  description text not null,
  -- What the transfer is about, by name: asset_name, run_id, pod_id, dataset_id, ... All values are text.
  refs jsonb not null constraint ledger_transfers_refs_object check (jsonb_typeof(refs) = 'object'),
  -- Unique: a hold is settled at most once.
  hold_id uuid unique references ledger_holds (id),
  idempotency_key text unique,
  created_at timestamptz not null default now(),
  constraint ledger_transfers_accounts_differ check (debit_account_id <> credit_account_id)
);

create index ledger_transfers_by_debit on ledger_transfers (debit_account_id, seq);
create index ledger_transfers_by_credit on ledger_transfers (credit_account_id, seq);

-- The hash chain stands beside the transfers, so that a transfer is never touched again.
create table ledger_seals (
  seq bigint primary key references ledger_transfers (seq),
  hash text not null constraint ledger_seals_hash_sha256 check (hash ~ '^[0-9a-f]{64}$'),
  sealed_at timestamptz not null default now()
);

create trigger ledger_transfers_append_only before update or delete or truncate on ledger_transfers
  for each statement execute function refuse_change();
create trigger ledger_seals_append_only before update or delete or truncate on ledger_seals
  for each statement execute function refuse_change();
create trigger ledger_holds_kept before delete or truncate on ledger_holds
  for each statement execute function refuse_change();
-- An ended hold is a fact too.
create trigger ledger_holds_ended_stay before update on ledger_holds
  for each row when (old.status <> 'pending') execute function refuse_change();

-- The moves. Each is called once, in the caller's transaction, and answers with an outcome; a refusal
-- changes nothing and leaves the caller's transaction usable. Locks are taken in one order
-- everywhere: the hold, then the users' accounts by id.

-- Locks the users' accounts among the two, by id, and answers what the debit account can spend;
-- null for a system account, which has no limit.
create function ledger_lock(p_debit text, p_credit text) returns bigint language plpgsql as $$
declare
  v_account record;
  v_available bigint;
begin
  -- The transaction gets its id before its transfer gets a seq: the sealer relies on that order.
  perform pg_current_xact_id();
  for v_account in
    select id, credits_posted - debits_posted - debits_pending as available
    from ledger_accounts
    where id in (p_debit, p_credit) and kind = 'user'
    order by id
    for no key update
  loop
    if v_account.id = p_debit then v_available := v_account.available; end if;
  end loop;
  return v_available;
end $$;

-- Outcomes: ok, replayed (the same key and the same transfer), idempotency_conflict (the same key,
-- another transfer), insufficient_funds (`available` says what there is).
create function ledger_transfer(
  p_debit text, p_credit text, p_amount bigint, p_kind text, p_description text, p_refs jsonb,
  p_idempotency_key text,
  out outcome text, out transfer_id uuid, out available bigint
) language plpgsql as $$
begin
  available := ledger_lock(p_debit, p_credit);

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

    insert into ledger_transfers as t
      (debit_account_id, credit_account_id, amount, kind, description, refs, idempotency_key)
    values (p_debit, p_credit, p_amount, p_kind, p_description, p_refs, p_idempotency_key)
    on conflict (idempotency_key) do nothing
    returning t.id into transfer_id;
    -- Not found: a call that locked other accounts used the key meanwhile; look at what it moved.
    exit when found;
  end loop;

  update ledger_accounts a set
    debits_posted = a.debits_posted + case a.id when p_debit then p_amount else 0 end,
    credits_posted = a.credits_posted + case a.id when p_credit then p_amount else 0 end
  where a.id in (p_debit, p_credit) and a.kind = 'user';
  outcome := 'ok';
  available := available - p_amount;
end $$;

-- A transfer between users, the recipient named by username, e-mail address or id: all that sending
-- credits needs, in one call. Outcomes: those of ledger_transfer, unknown_recipient, own_account.
create function ledger_send(
  p_sender_id text, p_recipient text, p_amount bigint, p_idempotency_key text,
  out outcome text, out transfer_id uuid, out available bigint, out recipient_id text
) language plpgsql as $$
declare
  v_sender text;
  v_recipient text;
begin
  select id, username into recipient_id, v_recipient from users
  where username = lower(p_recipient) or email = lower(p_recipient) or id = p_recipient;
  if not found then
    outcome := 'unknown_recipient';
    return;
  end if;
  if recipient_id = p_sender_id then
    outcome := 'own_account';
    return;
  end if;
  select username into v_sender from users where id = p_sender_id;
  select t.outcome, t.transfer_id, t.available into outcome, transfer_id, available
  from ledger_transfer('user:' || p_sender_id, 'user:' || recipient_id, p_amount, 'transfer',
    format('Bagels from %s to %s', v_sender, v_recipient), '{}', p_idempotency_key) t;
end $$;

-- Outcomes: ok, replayed, idempotency_conflict, insufficient_funds.
create function ledger_hold(
  p_debit text, p_credit text, p_amount bigint, p_kind text, p_description text, p_refs jsonb,
  p_expires_at timestamptz, p_idempotency_key text,
  out outcome text, out hold_id uuid, out available bigint
) language plpgsql as $$
begin
  available := ledger_lock(p_debit, p_credit);

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

-- Sets the hold's new amount and expiry, where given. It never shrinks or shortens a hold, so it may be repeated.
-- Outcomes: ok, insufficient_funds (`missing` is what the extension needs), ended, not_found.
create function ledger_extend_hold(
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
    available := ledger_lock(v_hold.debit_account_id, v_hold.credit_account_id);
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

-- Charges any amount from 0 to the hold's and frees the rest; 0 is a release. Settled once: the same
-- amount again is a replay, another one is refused.
-- Outcomes: ok, replayed, exceeds_hold, ended (released, or settled with another amount), not_found.
create function ledger_settle(
  p_hold_id uuid, p_amount bigint,
  out outcome text, out transfer_id uuid, out debit_account_id text
) language plpgsql as $$
declare
  v_hold ledger_holds;
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

  perform ledger_lock(v_hold.debit_account_id, v_hold.credit_account_id);
  update ledger_accounts a set
    debits_pending = a.debits_pending - case a.id when v_hold.debit_account_id then v_hold.amount else 0 end,
    debits_posted = a.debits_posted + case a.id when v_hold.debit_account_id then p_amount else 0 end,
    credits_posted = a.credits_posted + case a.id when v_hold.credit_account_id then p_amount else 0 end
  where a.id in (v_hold.debit_account_id, v_hold.credit_account_id) and a.kind = 'user';

  update ledger_holds h set
    status = case when p_amount > 0 then 'settled' else 'released' end,
    settled_amount = nullif(p_amount, 0),
    ended_at = now()
  where h.id = p_hold_id;

  if p_amount > 0 then
    insert into ledger_transfers as t
      (debit_account_id, credit_account_id, amount, kind, description, refs, hold_id)
    values (v_hold.debit_account_id, v_hold.credit_account_id, p_amount, v_hold.kind, v_hold.description,
      v_hold.refs, p_hold_id)
    returning t.id into transfer_id;
  end if;
  outcome := 'ok';
end $$;

-- Releases up to p_limit holds whose time is over at p_now; answers the debit accounts, one row per hold.
create function ledger_expire_holds(p_now timestamptz, p_limit integer)
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
