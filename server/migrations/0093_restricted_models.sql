-- Models whose use an operator grants to each person who asks for it.
create table restricted_models (
  -- As people know it, with slashes: 'meta-llama/Llama-3.1-70B'.
  id text primary key,
  name text not null,
  family text not null,
  tags text[] not null,
  details text not null,
  -- The model of an operator that has its files; null: they are not here yet. Who was granted access may read and use it.
  asset_id uuid references assets (id) on delete set null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  search_text text not null generated always as (asset_search_text(id, name, family, null, tags)) stored
);
create index restricted_models_asset on restricted_models (asset_id);

-- One for each person and model; who was refused may ask again.
create table access_requests (
  id uuid primary key default gen_random_uuid(),
  restricted_model_id text not null references restricted_models (id) on delete cascade,
  user_id text not null references users (id) on delete cascade,
  message text not null,
  state text not null default 'requested' check (state in ('requested', 'granted', 'refused')),
  requested_at timestamptz(3) not null default now(),
  decided_at timestamptz(3),
  decided_by text references users (id) on delete set null,
  unique (restricted_model_id, user_id)
);
create index access_requests_newest on access_requests (requested_at, id);
create index access_requests_waiting on access_requests (state, requested_at, id);
create index access_requests_user on access_requests (user_id);
create index access_requests_decided_by on access_requests (decided_by);
