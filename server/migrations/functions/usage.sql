-- Usage windows: see docs/ledger.md.

-- Creates the partition of a day if it does not exist.
create or replace function usage_prepare_day(p_day date) returns void language plpgsql as $$
declare
  v_name text := 'usage_events_' || to_char(p_day, 'YYYYMMDD');
begin
  if to_regclass(v_name) is not null then return; end if;
  perform pg_advisory_xact_lock(hashtextextended('usage_prepare_day', 0));
  if to_regclass(v_name) is not null then return; end if;
  execute format('create table %I (like usage_events including all)', v_name);
  execute format('alter table usage_events attach partition %I for values from (%L) to (%L)', v_name, p_day, p_day + 1);
end $$;

-- Drops the partitions of the days before p_day; returns their number.
create or replace function usage_forget_days(p_day date) returns integer language plpgsql as $$
declare
  v_name text;
  v_count integer := 0;
begin
  for v_name in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'usage_events'::regclass and c.relname < 'usage_events_' || to_char(p_day, 'YYYYMMDD')
  loop
    execute format('drop table %I', v_name);
    v_count := v_count + 1;
  end loop;
  return v_count;
end $$;

-- Adds an event to the digest of a window: SHA-256 over the previous digest and the event. A step in PL/pgSQL costs
-- half as much as in SQL, because it does not start a query.
create or replace function usage_digest_step(p_before bytea, e usage_events) returns bytea language plpgsql stable as $$
begin
  return sha256(p_before || convert_to(jsonb_build_array(
    e.n, e.id, to_char(e.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), e.amount_micro, e.quantities
  )::text, 'UTF8'));
end $$;

create or replace aggregate usage_digest(usage_events) (sfunc = usage_digest_step, stype = bytea, initcond = '\x');

-- Adds two objects of counts by key.
create or replace function usage_add(a jsonb, b jsonb) returns jsonb language sql immutable as $$
  select coalesce(jsonb_object_agg(key, total), '{}') from (
    select key, sum(value::bigint) as total
    from (select * from jsonb_each_text(a) union all select * from jsonb_each_text(b)) both_of_them
    group by key
  ) sums
$$;

-- Does not update a lease with more than p_left_ms left: a call that opens a window may then wait for its user's
-- account, and its lock on the lease would block other calls of the same process that open windows.
create or replace function usage_lease(p_leader uuid, p_lease_ms integer, p_left_ms integer) returns void language plpgsql as $$
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

-- Opens a window with its own hold. Outcomes: see ledger_hold.
create or replace function usage_open(
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

-- Writes events of windows, [{"window": id, "events": [{"n", "id", "at", "amount", "quantities"}]}], per window in the
-- order of n. Skips events that are already written, so a batch whose commit is uncertain can be sent again. Returns
-- the number of events of each window; null if p_leader no longer leads it, or if there is a gap: then `missing` is the
-- number of the first absent event, and no event after it is written. (After a failover, the database may lack the
-- newest events. They are not charged, and do not prevent writing other windows.)
create or replace function usage_write(p_leader uuid, p_batch jsonb)
returns table (window_id uuid, events bigint, missing bigint) language plpgsql as $$
declare
  v_day date := (clock_timestamp() at time zone 'UTC')::date;
  v_window usage_windows;
  v_part record;
  v_asked record;
  v_event usage_events;
begin
  perform usage_prepare_day(v_day);
  for v_part in
    select (part ->> 'window')::uuid as id, part -> 'events' as events from jsonb_array_elements(p_batch) part order by 1
  loop
    window_id := v_part.id;
    events := null;
    missing := null;
    select * into v_window from usage_windows w
    where w.id = v_part.id and w.leader_id = p_leader and w.closed_at is null for no key update;
    if found then
      for v_asked in
        select * from jsonb_to_recordset(v_part.events)
          e (n bigint, id uuid, at timestamptz, amount bigint, quantities jsonb)
        where e.n > v_window.events order by e.n
      loop
        if v_asked.n <> v_window.events + 1 then
          missing := v_window.events + 1;
          exit;
        end if;
        insert into usage_events (day, window_id, n, id, at, amount_micro, quantities)
        values (v_day, v_part.id, v_asked.n, v_asked.id, v_asked.at, v_asked.amount, v_asked.quantities)
        returning * into v_event;
        v_window.events := v_asked.n;
        v_window.used_micro := v_window.used_micro + v_asked.amount;
        v_window.quantities := usage_add(v_window.quantities, v_asked.quantities);
        v_window.digest := usage_digest_step(v_window.digest, v_event);
      end loop;
      update usage_windows w set
        events = v_window.events, used_micro = v_window.used_micro,
        quantities = v_window.quantities, digest = v_window.digest
      where w.id = v_part.id;
      events := case when missing is null then v_window.events end;
    end if;
    return next;
  end loop;
end $$;

-- Closes a window: charges the cost of its written events, at most the amount of its hold, in one transfer that records
-- their number, quantities and digest. Allowed for its leader, and for any caller after the leader's lease has expired.
-- Outcomes: ok, led (by another process whose lease is valid), closed (before), ended (the hold had expired: nothing is
-- charged). `uncharged` is the cost of usage that could not be charged.
create or replace function usage_close(
  p_window_id uuid, p_leader uuid, p_at timestamptz,
  out outcome text, out user_id text, out uncharged bigint
) language plpgsql as $$
declare
  v_window usage_windows;
  v_charged bigint;
begin
  uncharged := 0;
  select * into v_window from usage_windows where id = p_window_id for no key update;
  user_id := v_window.user_id;
  if not found or v_window.closed_at is not null then
    outcome := 'closed';
    return;
  end if;
  if p_leader is distinct from v_window.leader_id and exists (
    select from usage_leaders where id = v_window.leader_id and lease_until > clock_timestamp()
  ) then
    outcome := 'led';
    return;
  end if;

  select least(v_window.used_micro, h.amount) into v_charged
  from ledger_holds h where h.id = v_window.hold_id for no key update;
  update ledger_holds set refs = refs || (
    select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each_text(v_window.quantities)
  ) || jsonb_build_object(
    'events', v_window.events::text, 'digest', encode(v_window.digest, 'hex'))
  where id = v_window.hold_id and status = 'pending' and v_window.events > 0;
  select s.outcome into outcome from ledger_settle(v_window.hold_id, v_charged) s;
  if outcome = 'replayed' then outcome := 'ok'; end if;
  uncharged := v_window.used_micro - case outcome when 'ok' then v_charged else 0 end;
  update usage_windows set closed_at = p_at where id = p_window_id;
end $$;
