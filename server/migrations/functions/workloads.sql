create or replace function refuse_another_spec() returns trigger language plpgsql as $$
begin
  raise exception 'The spec of a workload never changes';
end
$$;

-- A workload that rests until its inputs are known (release-workload.ts) gets its complete spec then.
-- Compared only where somebody writes it: a spec may be megabytes, and a workload changes often.
create or replace trigger workloads_spec before update of spec on workloads
  for each row when (old.spec is distinct from new.spec and old.not_before < '9999-01-01T00:00:00Z')
  execute function refuse_another_spec();

-- What a request has to know of the engine's workloads, in one join.
drop view if exists serving_workloads;
create view serving_workloads as
  select id, state, reason, phase, base_url, adapter_names, server_key
  from workloads
  where behaviour = 'deployment';
