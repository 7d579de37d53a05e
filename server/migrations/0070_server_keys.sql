-- What a model server wants to be shown with each request; a new one for each attempt. Null: it was
-- started by an earlier version and asks for none, or has never been started.
alter table workloads add column server_key text;

create or replace view serving_workloads as
  select id, state, reason, phase, base_url,
    (select coalesce(array_agg(adapter ->> 'name' order by position), '{}')
     from jsonb_array_elements(spec -> 'adapters') with ordinality as adapters (adapter, position)) as adapter_names,
    server_key
  from workloads
  where behaviour = 'deployment';
