-- What is asked of a spec again and again, beside it: specs may be megabytes, each look would read them whole. Adding
-- stored columns rewrites the table once.
create function spec_adapter_names(spec jsonb) returns text[] language sql immutable parallel safe as $$
  select coalesce(array_agg(adapter ->> 'name' order by position), '{}')
  from jsonb_array_elements(case jsonb_typeof(spec -> 'adapters') when 'array' then spec -> 'adapters' end)
    with ordinality as adapters (adapter, position)
$$;

alter table workloads
  add column spec_kind text generated always as (spec ->> 'kind') stored,
  add column spec_engine text generated always as (spec ->> 'engine') stored,
  add column adapter_names text[] not null generated always as (spec_adapter_names(spec)) stored;

create or replace view serving_workloads as
  select id, state, reason, phase, base_url, adapter_names, server_key
  from workloads
  where behaviour = 'deployment';
