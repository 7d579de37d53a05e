-- A database that took over a moment behind may have forgotten the newest events of a window, or how its hold grew. Neither
-- may keep other windows from being written, nor the window from being closed: what is forgotten is not charged.

-- As before: writes events of windows, [{"window": id, "events": [{"n", "id", "at", "amount", "quantities"}]}], each window's
-- in the order of n. Those that were written before are passed over, so a batch whose commit is in doubt is sent again.
-- Answers how many each window has; null where the leader leads it no more, and where there is a gap before what comes:
-- then `missing` is the event that nobody has, and nothing behind it is written.
drop function usage_write(uuid, jsonb);
create function usage_write(p_leader uuid, p_batch jsonb)
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

-- As before: closes a window: charges what its written events cost, at most what its hold has, in one transfer that
-- carries how many they are, what they used, and their digest. For its leader, and for anybody once the leader's lease is
-- over. Outcomes: ok, led (by another process that lives), closed before, ended (its hold had run out: nothing is charged).
-- `uncharged` is what was used and could not be charged.
drop function usage_close(uuid, uuid, timestamptz);
create function usage_close(
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
