create or replace function refuse_another_spec() returns trigger language plpgsql as $$
begin
  raise exception 'The spec of a workload never changes';
end
$$;

-- Exempts workloads that wait for their inputs (not_before in the year 9999): release-workload.ts completes their spec.
-- A model server may add adapters that it has loaded while it runs, and their files.
-- `update of spec`: compares only when a statement writes it, since a spec may be megabytes and workloads change often.
create or replace trigger workloads_spec before update of spec on workloads
  for each row when (old.spec is distinct from new.spec and old.not_before < '9999-01-01T00:00:00Z'
    and (old.behaviour = 'run' or old.spec - '{adapters,inputs}'::text[] is distinct from new.spec - '{adapters,inputs}'::text[]))
  execute function refuse_another_spec();

-- The columns of workloads that requests to models need, available with one join.
drop view if exists serving_workloads;
create view serving_workloads as
  select id, state, reason, phase, base_url, adapter_names, server_key
  from workloads
  where behaviour = 'deployment';
