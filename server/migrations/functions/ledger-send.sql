-- Executes transfers between users in the order of the arrays, each with its own outcome: a refused transfer does not
-- affect the others. Recipients are named by username, email address or id. Idempotency keys are scoped to the sender,
-- so only the transaction that holds the sender's lock can use them.
--
-- Outcomes: ok, replayed, idempotency_conflict, insufficient_funds, not_sendable, owed, over_daily_limit,
-- unknown_recipient, own_account; and, without p_wait, busy: another transaction has locked one of the two accounts, so
-- nothing was moved. p_daily_max is the most each sender may send within 24 hours, null for no limit; with
-- over_daily_limit, `sendable` is the rest of that limit. p_key_ids are the API keys of the requests, null without one.
-- A repeated call may use another.
--
-- A repeated send returns its first result, even after the recipient's account was deleted. The names of deleted
-- accounts are not stored, so for such a recipient only the key, the sender and the amount are compared, whatever
-- recipient the call names: the outcome must not reveal who has an account. Credit is checked before the recipient for
-- the same reason.
--
-- Each table is searched by key, however large it is. A plan made for small tables would scan them, and connections
-- cache the plan while the tables grow: so only index scans are enabled, and all calls share one generic plan.
create or replace function ledger_send(
  p_senders text[], p_recipients text[], p_amounts bigint[], p_keys text[], p_wait boolean,
  p_daily_max bigint default null, p_key_ids uuid[] default null
) returns table (outcome text, transfer_id uuid, available bigint, sendable bigint, recipient_id text) language plpgsql
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_recipients text[];
  v_without_account text[];
  v_keys text[];
  -- Earlier transfers with these keys, their recipients, and whether they equal the requested transfers.
  v_earlier uuid[];
  v_earlier_to text[];
  v_is_same boolean[];
  -- The users whose accounts are locked, ordered by account id; the arrays below follow the same order.
  v_users text[];
  v_available bigint[];
  v_sendable bigint[]; -- negative if the user owes more
  v_owed bigint[];
  v_daily_left bigint[]; -- the rest of what each user may send within 24 hours; null without a limit
  v_debt record;
  v_paid bigint[];
  v_received bigint[];
  -- The array positions of accepted transfers, and their ids.
  v_moved integer[] := '{}';
  v_ids uuid[] := '{}';
  v_moved_keys text[] := '{}';
  v_from integer;
  v_to integer;
  v_twin integer; -- position in v_moved
begin
  -- Assign the transaction id before any seq, as in ledger_lock.
  perform pg_current_xact_id();

  select array_agg(r.id order by n),
    array_agg(r.id order by n) filter (where r.id is not null and a.id is null),
    array_agg('transfer-credits:' || asked.sender || ':' || asked.key order by n)
  into v_recipients, v_without_account, v_keys
  from unnest(p_senders, p_recipients, p_keys) with ordinality as asked (sender, recipient, key, n)
  left join lateral (
    select u.id from users u
    where (u.username = lower(asked.recipient) or u.email = lower(asked.recipient) or u.id = asked.recipient)
      and u.deleted_at is null and not starts_with(u.id, 'system:')
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
  -- Read under the locks: deleting an account holds them until its commit, so a recipient may have been deleted by now.
  select array_agg(u.id order by n) into v_recipients
  from unnest(v_recipients) with ordinality as named (id, n)
  left join users u on u.id = named.id and u.deleted_at is null;

  v_paid := array_fill(0::bigint, array[coalesce(cardinality(v_users), 0)]);
  v_received := v_paid;

  -- Debts are collected before anything is sent, so they reduce what the sender may send.
  v_owed := v_paid;
  for v_debt in
    select array_position(v_users, owner_user_id) as place, ledger_owed(owner_user_id) as owed
    from ledger_accounts
    where kind = 'receivable' and owner_user_id = any (p_senders) and owner_user_id = any (v_users)
  loop
    v_owed[v_debt.place] := v_debt.owed;
    v_sendable[v_debt.place] := v_sendable[v_debt.place] - v_debt.owed;
  end loop;

  -- Read under the locks: no other call can send for these users until this transaction ends.
  if p_daily_max is not null then
    select array_agg(p_daily_max - coalesce(sent.amount, 0) order by place)
    into v_daily_left
    from unnest(v_users) with ordinality as locked (user_id, place)
    left join lateral (
      select sum(t.amount)::bigint as amount from ledger_transfers t
      where t.debit_account_id = 'user:' || locked.user_id and t.kind = 'transfer'
        and t.created_at > now() - interval '24 hours'
    ) sent on locked.user_id = any (p_senders);
  end if;

  -- Read under the locks: no other call can use these keys until this transaction ends.
  select array_agg(t.id order by n), array_agg(payee.owner_user_id order by n),
    array_agg(
      (t.debit_account_id, t.amount, t.kind) is not distinct from ('user:' || asked.sender, asked.amount, 'transfer')
        and (payee.owner_user_id is not distinct from asked.recipient or former.deleted_at is not null)
      order by n)
  into v_earlier, v_earlier_to, v_is_same
  from unnest(p_senders, v_recipients, p_amounts, v_keys) with ordinality as asked (sender, recipient, amount, key, n)
  left join ledger_transfers t on t.idempotency_key = asked.key
  left join ledger_accounts payee on payee.id = t.credit_account_id
  left join users former on former.id = payee.owner_user_id;

  for i in 1 .. cardinality(p_senders) loop
    recipient_id := v_recipients[i];
    transfer_id := null;
    v_from := array_position(v_users, p_senders[i]);
    v_to := array_position(v_users, recipient_id);
    available := v_available[v_from];
    sendable := greatest(v_sendable[v_from], 0);
    -- One call may contain the same key twice.
    v_twin := case when v_keys[i] is not null then array_position(v_moved_keys, v_keys[i]) end;
    if v_twin is not null then
      v_earlier[i] := v_ids[v_twin];
      v_earlier_to[i] := v_recipients[v_moved[v_twin]];
      v_is_same[i] := (recipient_id, p_amounts[i])
        is not distinct from (v_recipients[v_moved[v_twin]], p_amounts[v_moved[v_twin]]);
    end if;

    if v_from is null or (recipient_id is not null and v_to is null) then
      outcome := 'busy';
    elsif v_earlier[i] is not null then
      transfer_id := v_earlier[i];
      outcome := case when v_is_same[i] then 'replayed' else 'idempotency_conflict' end;
      if v_is_same[i] then recipient_id := v_earlier_to[i]; end if;
    elsif available < p_amounts[i] then
      outcome := 'insufficient_funds';
    elsif sendable < p_amounts[i] then
      outcome := case when v_owed[v_from] > 0 then 'owed' else 'not_sendable' end;
    elsif v_daily_left[v_from] < p_amounts[i] then
      outcome := 'over_daily_limit';
      sendable := greatest(v_daily_left[v_from], 0);
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
      v_daily_left[v_from] := v_daily_left[v_from] - p_amounts[i];
      v_received[v_to] := v_received[v_to] + p_amounts[i];
      available := v_available[v_from];
    end if;
    return next;
  end loop;
  if v_ids = '{}' then return; end if;

  insert into ledger_transfers
    (id, debit_account_id, credit_account_id, amount, kind, description, refs, idempotency_key)
  select id, 'user:' || p_senders[i], 'user:' || v_recipients[i], p_amounts[i], 'transfer', 'Bagels',
    jsonb_strip_nulls(jsonb_build_object('key_id', p_key_ids[i])), v_keys[i]
  from unnest(v_ids, v_moved) as moved (id, i);

  update ledger_accounts a set
    debits_posted = a.debits_posted + moved.paid,
    credits_posted = a.credits_posted + moved.received
  from unnest(v_users, v_paid, v_received) as moved (user_id, paid, received)
  where a.kind = 'user' and a.owner_user_id = moved.user_id and moved.paid + moved.received > 0;
end $$;
