-- A lease that is long enough is left as it is: whoever opens a window may wait for its user's account, and those who
-- open others in the same process must not wait for him.
create or replace function usage_lease(p_leader uuid) returns void language plpgsql as $$
begin
  if exists (
    select from usage_leaders where id = p_leader and lease_until > clock_timestamp() + interval '10 seconds'
  ) then
    return;
  end if;
  insert into usage_leaders values (p_leader, clock_timestamp() + interval '30 seconds')
  on conflict (id) do update set lease_until = excluded.lease_until;
end $$;
