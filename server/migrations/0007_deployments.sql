-- A text server: one base model in memory, with the adapters of every deployment on it.
-- Engine workloads never change, so another set of adapters is another workload: `next_workload_id`
-- starts beside `workload_id` and takes its place once it answers.
create table text_servers (
  id uuid primary key default gen_random_uuid(),
  engine text not null check (engine in ('llamacpp', 'vllm')),
  -- What is shared: the same files under the same engine are in memory once, whoever deployed them.
  -- SHA-256 over the paths and hashes of `base_files`, so that nobody's tokenizer or template is
  -- taken for another's.
  files_sha256 text not null,
  base_files jsonb not null,
  -- Which of them the engine loads.
  model_file text not null,
  accelerator text,
  accelerator_count integer not null,
  workload_id uuid,
  next_workload_id uuid,
  -- A set with several new adapters has failed: they are added one at a time, to find the bad one.
  cautious boolean not null default false,
  -- The starter model that everybody may chat with without a deployment; null for other bases.
  starter_asset_id uuid,
  starter_name text unique,
  starter_requested_at timestamptz,
  created_at timestamptz not null default now(),
  check ((starter_asset_id is null) = (starter_name is null)),
  unique nulls not distinct (engine, files_sha256, accelerator, accelerator_count)
);

create table deployments (
  id uuid primary key default gen_random_uuid(),
  user_id text not null references users (id),
  text_server_id uuid not null references text_servers (id),
  asset_id uuid not null,
  revision_id uuid not null,
  -- The base that an adapter stands on; the model itself where it is served whole.
  base_asset_id uuid not null,
  -- All null: the base model itself.
  adapter_file text,
  adapter_rank integer,
  adapter_files jsonb,
  -- The name for `model` in OpenAI-style calls.
  model_name text not null,
  title text not null,
  base_model_title text not null,
  instance_type text not null,
  -- Id of the price per hour in modules/credits/prices.ts, and for how many GPUs; 1 on the CPU.
  price_id text not null,
  price_count integer not null check (price_count between 1 and 8),
  -- Asleep: not metered; the next request wakes it.
  sleeping boolean not null default false,
  reason text not null default '',
  -- The workload that answers or answered for it last: its log outlives it.
  carrier_id uuid,
  -- The open hold, how many there were before, the milliseconds used under it, and up to when time was counted.
  hold_id uuid,
  holds_made integer not null default 0,
  unsettled_ms bigint not null default 0 check (unsettled_ms >= 0),
  metered_at timestamptz,
  settled_micro bigint not null default 0 check (settled_micro >= 0),
  -- Sums of its requests, which themselves are kept for a while only.
  requests bigint not null default 0,
  prompt_tokens bigint not null default 0,
  completion_tokens bigint not null default 0,
  tokens_micro bigint not null default 0,
  created_at timestamptz not null default now(),
  -- First time that it answered: its adapter is known to load.
  ready_at timestamptz,
  last_request_at timestamptz,
  terminated_at timestamptz,
  failed boolean not null default false,
  check (num_nulls(adapter_file, adapter_rank, adapter_files) in (0, 3)),
  check (not failed or terminated_at is not null)
);

create unique index deployments_model_name on deployments (user_id, model_name) where terminated_at is null;
create index deployments_by_user on deployments (user_id, created_at desc);
create index deployments_by_server on deployments (text_server_id) where terminated_at is null;
create index deployments_awake on deployments (metered_at) where terminated_at is null and not sleeping;
create index deployments_live_asset on deployments (asset_id) where terminated_at is null;
create index deployments_live_base on deployments (base_asset_id) where terminated_at is null;

-- One row per answered request: the source of the charts, and the meter behind each charge.
create table chat_requests (
  id uuid primary key,
  user_id text not null references users (id),
  -- Null: the base model, without a deployment.
  deployment_id uuid references deployments (id),
  model_name text not null,
  at timestamptz not null,
  ok boolean not null,
  prompt_tokens integer not null,
  completion_tokens integer not null,
  first_token_ms integer,
  total_ms integer not null,
  cost_micro bigint not null
);

create index chat_requests_by_deployment on chat_requests (deployment_id, at);
create index chat_requests_by_time on chat_requests (at);

-- What a request has to know of the engine's workloads, in one join.
create view serving_workloads as
  select id, state, reason, phase, base_url,
    (select coalesce(array_agg(adapter ->> 'name' order by position), '{}')
     from jsonb_array_elements(spec -> 'adapters') with ordinality as adapters (adapter, position)) as adapter_names
  from workloads
  where behaviour = 'deployment';
