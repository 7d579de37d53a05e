-- How long a lease lasts, and what must be left of one when a window is opened, is for the processes to say that lead
-- windows (`usage-queries.ts`). As before, a lease that is long enough is left as it is: whoever opens a window may wait
-- for its user's account, and those who open others in the same process must not wait for him.
drop function usage_lease(uuid);
create function usage_lease(p_leader uuid, p_lease_ms integer, p_left_ms integer) returns void language plpgsql as $$
begin
  if exists (
    select from usage_leaders
    where id = p_leader and lease_until > clock_timestamp() + p_left_ms * interval '1 millisecond'
  ) then
    return;
  end if;
  insert into usage_leaders values (p_leader, clock_timestamp() + p_lease_ms * interval '1 millisecond')
  on conflict (id) do update set lease_until = excluded.lease_until;
end $$;

-- As before: opens a window on a hold of its own. Outcomes: those of ledger_hold.
drop function usage_open(uuid, uuid, text, uuid, text, timestamptz, text, text, bigint, text, jsonb, timestamptz);
create function usage_open(
  p_window_id uuid, p_leader uuid, p_user_id text, p_key_id uuid, p_source text, p_at timestamptz,
  p_debit text, p_credit text, p_amount bigint, p_description text, p_refs jsonb, p_expires_at timestamptz,
  p_lease_ms integer, p_left_ms integer,
  out outcome text, out hold_id uuid, out available bigint
) language plpgsql as $$
begin
  perform usage_lease(p_leader, p_lease_ms, p_left_ms);
  select h.outcome, h.hold_id, h.available into outcome, hold_id, available
  from ledger_hold(p_debit, p_credit, p_amount, 'charge', p_description, p_refs, p_expires_at, 'usage:' || p_window_id) h;
  if outcome = 'ok' then
    insert into usage_windows (id, user_id, key_id, source, leader_id, hold_id, opened_at)
    values (p_window_id, p_user_id, p_key_id, p_source, p_leader, hold_id, p_at);
  end if;
end $$;

-- As before: releases holds whose time is over. The keys whose budgets count them are locked as whoever ends all keys of
-- a user locks them: the web app's first, the others by id.
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
