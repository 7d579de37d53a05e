-- Given credits apart from bought ones: they are spent first, may expire, and are never sent to others; and
-- what a chargeback leaves behind. See docs/ledger.md.

alter table ledger_accounts
  -- How much of the balance was given. The rest was bought, or sent by others.
  add given bigint,
  drop constraint ledger_accounts_owner_user_id_key,
  drop constraint ledger_accounts_kind_known,
  drop constraint ledger_accounts_user_named_after_owner,
  drop constraint ledger_accounts_user_has_totals;

-- How much of each transfer is given credits, on the side of its one user. Between users it is zero.
alter table ledger_transfers
  add given bigint not null default 0
    constraint ledger_transfers_given_within_amount check (given between 0 and amount),
  add constraint ledger_transfers_given_not_sent
    check (given = 0 or not (debit_account_id like 'user:%' and credit_account_id like 'user:%')),
  drop constraint ledger_transfers_kind_known,
  add constraint ledger_transfers_kind_known
    check (kind in ('grant', 'purchase', 'transfer', 'charge', 'refund', 'expiry', 'chargeback'));

-- The portions in which given credits came; each has its end. Whoever changes one holds its account's lock.
create table ledger_given (
  id uuid primary key default uuidv7(),
  account_id text not null references ledger_accounts (id),
  -- What brought it; null for what was there before portions were counted.
  transfer_id uuid unique references ledger_transfers (id),
  amount bigint not null constraint ledger_given_amount_positive check (amount > 0),
  remaining bigint not null constraint ledger_given_remaining_within_amount check (remaining between 0 and amount),
  expires_at timestamptz not null default 'infinity'
);
create index ledger_given_by_account on ledger_given (account_id);
create index ledger_given_by_expiry on ledger_given (expires_at) where remaining > 0;
create trigger ledger_given_kept before delete or truncate on ledger_given
  for each statement execute function refuse_change();

-- Until now only the starting grant was given. It was spent first; what a user sent was first what he had bought.
insert into ledger_given (account_id, amount, remaining)
select id, remaining, remaining from (
  select a.id, least(
    a.credits_posted - a.debits_posted,
    coalesce(sum(t.amount) filter (where t.credit_account_id = a.id and t.idempotency_key like 'starting-grant:%'), 0)
      - coalesce(sum(t.amount) filter (where t.credit_account_id like 'revenue:%'), 0)
      + coalesce(sum(t.amount) filter (where t.debit_account_id like 'revenue:%'), 0)
  )::bigint as remaining
  from ledger_accounts a
  join ledger_transfers t on a.id in (t.debit_account_id, t.credit_account_id)
  where a.kind = 'user'
  group by a.id
) before
where remaining > 0;

update ledger_accounts a
set given = coalesce((select sum(g.remaining) from ledger_given g where g.account_id = a.id), 0)
where a.kind = 'user';

alter table ledger_accounts
  add constraint ledger_accounts_given_within_balance check (given between 0 and credits_posted - debits_posted),
  add constraint ledger_accounts_kind_known
    check (kind in ('user', 'grants', 'payments', 'revenue', 'receivable')),
  -- A receivable is what its user owes the house. Like a system account it has no limit and no totals.
  add constraint ledger_accounts_named_after_owner check (
    (kind in ('user', 'receivable')) = (owner_user_id is not null) and id = coalesce(kind || ':' || owner_user_id, id)
  ),
  add constraint ledger_accounts_user_has_totals check (
    num_nonnulls(credits_posted, debits_posted, debits_pending, given) = case kind when 'user' then 4 else 0 end
  );
create index ledger_accounts_by_owner on ledger_accounts (owner_user_id);

create or replace function ledger_open_accounts(p_user_ids text[]) returns void language sql as $$
  insert into ledger_accounts (id, kind, owner_user_id, credits_posted, debits_posted, debits_pending, given)
  select 'user:' || id, 'user', id, 0, 0, 0, 0 from users where id = any (p_user_ids)
  order by id
  on conflict do nothing
$$;

-- What can be spent is the balance less the holds. What can be sent is less: holds are met out of given credits
-- first, and what of these no hold needs stays where it is.
drop function ledger_lock(text, text);
create function ledger_lock(p_debit text, p_credit text, out available bigint, out sendable bigint, out given bigint)
language plpgsql as $$
declare
  v_account record;
begin
  -- The transaction gets its id before its transfer gets a seq: the sealer relies on that order.
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

-- Takes given credits out of their portions, those that end first before the others.
create function ledger_take_given(p_account_id text, p_amount bigint) returns void language sql as $$
  update ledger_given g set remaining = g.remaining - portions.taken
  from (
    select id, least(remaining, p_amount - (sum(remaining) over in_turn - remaining)) as taken
    from ledger_given where account_id = p_account_id and remaining > 0
    window in_turn as (order by expires_at, id)
  ) portions
  where portions.id = g.id and portions.taken > 0
$$;

-- p_given_until: the amount comes as given credits that end then ('infinity': never); null: as bought ones.
-- Outcomes: ok, replayed (the same key and the same transfer), idempotency_conflict (the same key,
-- another transfer), insufficient_funds (`available` says what there is), not_sendable (there is enough, but
-- of it only `sendable` may go to another user).
drop function ledger_transfer(text, text, bigint, text, text, jsonb, text);
create function ledger_transfer(
  p_debit text, p_credit text, p_amount bigint, p_kind text, p_description text, p_refs jsonb,
  p_idempotency_key text, p_given_until timestamptz default null,
  out outcome text, out transfer_id uuid, out available bigint, out sendable bigint
) language plpgsql as $$
declare
  v_given_left bigint; -- null for a system account
  v_given_paid bigint;
  v_given_received bigint := case when p_given_until is null then 0 else p_amount end;
begin
  select l.available, l.sendable, l.given into available, sendable, v_given_left from ledger_lock(p_debit, p_credit) l;
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
      outcome := 'not_sendable';
      return;
    end if;

    insert into ledger_transfers as t
      (debit_account_id, credit_account_id, amount, kind, description, refs, idempotency_key, given)
    values (p_debit, p_credit, p_amount, p_kind, p_description, p_refs, p_idempotency_key,
      v_given_paid + v_given_received)
    on conflict (idempotency_key) do nothing
    returning t.id into transfer_id;
    -- Not found: a call that locked other accounts used the key meanwhile; look at what it moved.
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

-- Takes back given credits whose time is over at p_now, in up to p_limit accounts; answers one row per account.
-- What running work needs of them stays until its hold ends, whatever else is there: they are spent first.
create function ledger_expire_given(p_now timestamptz, p_limit integer)
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

-- Pays what the user owes, as far as he has what he could also send. Answers how much that was.
create function ledger_collect(p_user_id text) returns bigint language plpgsql as $$
declare
  v_account text := 'user:' || p_user_id;
  v_receivable text := 'receivable:' || p_user_id;
  v_sendable bigint;
  v_owed bigint;
begin
  select l.sendable into v_sendable from ledger_lock(v_account, v_receivable) l;
  -- Under the lock: nobody else collects from him.
  select coalesce(sum(case debit_account_id when v_receivable then amount else -amount end), 0) into v_owed
  from ledger_transfers where debit_account_id = v_receivable or credit_account_id = v_receivable;
  v_owed := least(v_owed, v_sendable);
  if v_owed > 0 then
    update ledger_accounts set debits_posted = debits_posted + v_owed where id = v_account;
    insert into ledger_transfers (debit_account_id, credit_account_id, amount, kind, description, refs)
    values (v_account, v_receivable, v_owed, 'chargeback', 'Payment that was taken back', '{}');
  end if;
  return greatest(coalesce(v_owed, 0), 0);
end $$;

-- A payment that its payer's bank took back: the user owes it, and pays as much at once as he can.
-- Outcomes: ok, replayed, idempotency_conflict.
create function ledger_charge_back(
  p_user_id text, p_amount bigint, p_description text, p_refs jsonb, p_idempotency_key text,
  out outcome text, out transfer_id uuid, out collected bigint
) language plpgsql as $$
begin
  perform ledger_open_accounts(array[p_user_id]);
  insert into ledger_accounts (id, kind, owner_user_id) values ('receivable:' || p_user_id, 'receivable', p_user_id)
  on conflict do nothing;
  select t.outcome, t.transfer_id into outcome, transfer_id
  from ledger_transfer('receivable:' || p_user_id, 'payments', p_amount, 'chargeback', p_description, p_refs,
    p_idempotency_key) t;
  collected := case outcome when 'ok' then ledger_collect(p_user_id) else 0 end;
end $$;

drop function ledger_send(text[], text[], bigint[], text[], boolean);
-- Transfers between users, one after the other in the order of the arrays, each with its own outcome:
-- a refused one changes nothing for the others. Recipients are named by username, email address or id.
-- Keys are the senders' own, so whoever holds a sender's lock is the only one to use them.
-- Outcomes: ok, replayed, idempotency_conflict, insufficient_funds, not_sendable, unknown_recipient, own_account; and
-- busy unless p_wait: another transaction holds one of the two accounts, so it was left alone.
-- Credit is looked at before the recipient: whoever cannot pay does not learn who has an account.
create function ledger_send(
  p_senders text[], p_recipients text[], p_amounts bigint[], p_keys text[], p_wait boolean
) returns table (outcome text, transfer_id uuid, available bigint, sendable bigint, recipient_id text) language plpgsql as $$
#variable_conflict use_column
declare
  v_recipients text[];
  v_without_account text[];
  v_descriptions text[];
  v_keys text[];
  -- What earlier calls with these keys moved, and whether it is what is asked for now.
  v_earlier uuid[];
  v_is_same boolean[];
  -- The users whose accounts are locked, by account id, and beside each what this call does to it.
  v_users text[];
  v_available bigint[];
  v_sendable bigint[];
  v_paid bigint[];
  v_received bigint[];
  -- The places in the arrays of what is moved, and the ids of the transfers.
  v_moved integer[] := '{}';
  v_ids uuid[] := '{}';
  v_moved_keys text[] := '{}';
  v_from integer;
  v_to integer;
  v_twin integer; -- the place in v_moved
begin
  -- Before any seq, as in ledger_lock.
  perform pg_current_xact_id();

  select array_agg(r.id order by n),
    array_agg(r.id order by n) filter (where r.id is not null and a.id is null),
    array_agg(format('Bagels from %s to %s', s.username, r.username) order by n),
    array_agg('transfer-credits:' || asked.sender || ':' || asked.key order by n)
  into v_recipients, v_without_account, v_descriptions, v_keys
  from unnest(p_senders, p_recipients, p_keys) with ordinality as asked (sender, recipient, key, n)
  left join users s on s.id = asked.sender
  left join lateral (
    select u.id, u.username from users u
    where u.username = lower(asked.recipient) or u.email = lower(asked.recipient) or u.id = asked.recipient
    limit 1
  ) r on true
  left join ledger_accounts a on a.kind = 'user' and a.owner_user_id = r.id;

  if v_without_account is not null then perform ledger_open_accounts(v_without_account); end if;

  if p_wait then
    select array_agg(owner_user_id), array_agg(balance - debits_pending),
      array_agg(balance - greatest(debits_pending, given))
    into v_users, v_available, v_sendable from (
      select owner_user_id, credits_posted - debits_posted as balance, debits_pending, given
      from ledger_accounts where kind = 'user' and owner_user_id = any (p_senders || v_recipients)
      order by id for no key update
    ) locked;
  else
    select array_agg(owner_user_id), array_agg(balance - debits_pending),
      array_agg(balance - greatest(debits_pending, given))
    into v_users, v_available, v_sendable from (
      select owner_user_id, credits_posted - debits_posted as balance, debits_pending, given
      from ledger_accounts where kind = 'user' and owner_user_id = any (p_senders || v_recipients)
      order by id for no key update skip locked
    ) locked;
  end if;
  v_paid := array_fill(0::bigint, array[coalesce(cardinality(v_users), 0)]);
  v_received := v_paid;

  -- Under the locks: nobody can use these keys from here on.
  select array_agg(t.id order by n),
    array_agg(
      (t.debit_account_id, t.credit_account_id, t.amount, t.kind)
        is not distinct from ('user:' || asked.sender, 'user:' || asked.recipient, asked.amount, 'transfer')
      order by n)
  into v_earlier, v_is_same
  from unnest(p_senders, v_recipients, p_amounts, v_keys) with ordinality as asked (sender, recipient, amount, key, n)
  left join ledger_transfers t on t.idempotency_key = asked.key;

  for i in 1 .. cardinality(p_senders) loop
    recipient_id := v_recipients[i];
    transfer_id := null;
    v_from := array_position(v_users, p_senders[i]);
    v_to := array_position(v_users, recipient_id);
    available := v_available[v_from];
    sendable := v_sendable[v_from];
    -- The same key may stand in one call twice.
    v_twin := case when v_keys[i] is not null then array_position(v_moved_keys, v_keys[i]) end;
    if v_twin is not null then
      v_earlier[i] := v_ids[v_twin];
      v_is_same[i] := (recipient_id, p_amounts[i])
        is not distinct from (v_recipients[v_moved[v_twin]], p_amounts[v_moved[v_twin]]);
    end if;

    if v_from is null or (recipient_id is not null and v_to is null) then
      outcome := 'busy';
    elsif v_earlier[i] is not null then
      transfer_id := v_earlier[i];
      outcome := case when v_is_same[i] then 'replayed' else 'idempotency_conflict' end;
    elsif available < p_amounts[i] then
      outcome := 'insufficient_funds';
    elsif sendable < p_amounts[i] then
      outcome := 'not_sendable';
    elsif recipient_id is null then
      outcome := 'unknown_recipient';
    elsif v_from = v_to then
      outcome := 'own_account';
    else
      outcome := 'ok';
      transfer_id := uuidv7();
      v_moved := v_moved || i;
      v_moved_keys := v_moved_keys || v_keys[i];
      v_ids := v_ids || transfer_id;
      v_available[v_from] := v_available[v_from] - p_amounts[i];
      v_available[v_to] := v_available[v_to] + p_amounts[i];
      v_sendable[v_from] := v_sendable[v_from] - p_amounts[i];
      v_sendable[v_to] := v_sendable[v_to] + p_amounts[i];
      v_paid[v_from] := v_paid[v_from] + p_amounts[i];
      v_received[v_to] := v_received[v_to] + p_amounts[i];
      available := v_available[v_from];
    end if;
    return next;
  end loop;
  if v_ids = '{}' then return; end if;

  insert into ledger_transfers
    (id, debit_account_id, credit_account_id, amount, kind, description, refs, idempotency_key)
  select id, 'user:' || p_senders[i], 'user:' || v_recipients[i], p_amounts[i], 'transfer', v_descriptions[i], '{}',
    v_keys[i]
  from unnest(v_ids, v_moved) as moved (id, i);

  update ledger_accounts a set
    debits_posted = a.debits_posted + moved.paid,
    credits_posted = a.credits_posted + moved.received
  from unnest(v_users, v_paid, v_received) as moved (user_id, paid, received)
  where a.kind = 'user' and a.owner_user_id = moved.user_id and moved.paid + moved.received > 0;
end $$;
