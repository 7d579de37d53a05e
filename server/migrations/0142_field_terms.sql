-- Triggers that announce changes are named by what they do, PostgreSQL's 'notify'; and what refunds and disputes reversed,
-- and when a purchase was last checked with the provider, have the names of their fields on the wire and in the field.
alter function tell_row_change() rename to notify_row_change;
do $$
declare
  v_trigger record;
begin
  for v_trigger in
    select tgname, tgrelid::regclass as on_table from pg_trigger
    where not tgisinternal and tgfoid = 'notify_row_change'::regproc
  loop
    execute format('alter trigger %I on %s rename to %I', v_trigger.tgname, v_trigger.on_table,
      regexp_replace(v_trigger.tgname, '_tell(_|$)', '_notify\1'));
  end loop;
end $$;

alter table purchases rename column taken_back_cents to reversed_cents;
alter table purchases rename constraint purchases_taken_back_within to purchases_reversed_within;
alter table purchases rename column looked_at to checked_at;
