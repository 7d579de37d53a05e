-- Fine-tunes. How one is getting on stands in its workload, which has the same id.

create table runs (
  id uuid primary key references workloads (id),
  user_id text not null references users (id),
  title text not null,
  -- The model that it makes. It, the base and the dataset may be deleted once the run has ended.
  model_asset_id uuid not null,
  base_asset_id uuid not null,
  base_revision_id uuid not null,
  base_title text not null,
  dataset_asset_id uuid not null,
  dataset_revision_id uuid not null,
  dataset_title text not null,
  file_name text not null,
  parameters jsonb not null,
  -- What one hour of one device costs, and how many devices there are.
  price_id text not null,
  devices integer not null check (devices > 0),
  quote jsonb not null,
  -- Operations that training takes by the formula of the estimate; with the time that it took in
  -- the end, they say how fast this machine is.
  work_flops double precision not null,
  hold_id uuid not null references ledger_holds (id),
  held_micro bigint not null check (held_micro > 0),
  hold_expires_at timestamptz not null,
  -- Of a run that ended and was resumed: what was charged for its earlier rounds, and how many
  -- seconds they had counted, charged or not.
  settled_micro bigint not null default 0 check (settled_micro >= 0),
  settled_seconds double precision not null default 0 check (settled_seconds >= 0),
  -- Of this round. Null until settled; 0: not charged.
  charged_micro bigint check (charged_micro >= 0),
  summary jsonb,
  created_at timestamptz not null
);
create index runs_by_user on runs (user_id, created_at desc);
create index runs_by_model on runs (model_asset_id);

create table training_configurations (
  id uuid primary key default gen_random_uuid(),
  user_id text not null references users (id),
  name text not null check (length(name) between 1 and 100),
  payload jsonb not null,
  created_at timestamptz not null default now(),
  unique (user_id, name)
);
