-- What a file of OpenAI's Files API, which is a dataset with one file, is for; one that has no row is for fine-tuning.
create table file_purposes (
  asset_id uuid primary key references assets (id) on delete cascade,
  purpose text not null check (purpose in ('batch', 'batch_output'))
);

-- What a fine-tune is called in OpenAI-style calls, from its first result on.
create table fine_tuned_models (
  asset_id uuid primary key references assets (id) on delete cascade,
  -- ft:BASE:USERNAME:SUFFIX:ID
  name text not null unique,
  created_at timestamptz not null default now()
);
insert into fine_tuned_models (asset_id, name)
select distinct on (model.id) model.id, concat_ws(':',
  'ft',
  left(trim(both '-.' from regexp_replace(lower(runs.base_title), '[^a-z0-9.]+', '-', 'g')), 60),
  users.username,
  left(trim(both '-.' from regexp_replace(lower(model.title), '[^a-z0-9.]+', '-', 'g')), 64),
  left(model.id::text, 8))
from runs
join assets model on model.id = runs.model_asset_id and model.deleted_at is null and model.revision_id is not null
join users on users.id = model.owner_user_id
where runs.summary is not null
order by model.id, runs.created_at;

-- What OpenAI's fine-tuning API keeps of a run that began there, beside the run.
create table fine_tuning_jobs (
  -- Runs stay for good.
  run_id uuid primary key,
  user_id text not null references users (id),
  suffix text,
  metadata jsonb
);
create index fine_tuning_jobs_of_user on fine_tuning_jobs (user_id);

-- Requests that are answered when nobody else asks. A batch holds what they can cost at most, and is charged for those of
-- which the answer was kept.
create table batches (
  id uuid primary key,
  user_id text not null references users (id),
  -- The API key whose budget its hold counts against.
  key_id uuid,
  endpoint text not null,
  model text not null,
  input_asset_id uuid not null,
  metadata jsonb,
  -- Micro-BGL for a million tokens, by the id of the price that each stands in for.
  prices jsonb not null,
  hold_id uuid not null,
  held_micro bigint not null check (held_micro > 0),
  cost_micro bigint not null default 0 check (cost_micro >= 0),
  total integer not null check (total > 0),
  completed integer not null default 0,
  failed integer not null default 0,
  output_asset_id uuid,
  error_asset_id uuid,
  created_at timestamptz not null,
  begun_at timestamptz,
  cancelled_at timestamptz,
  expires_at timestamptz not null,
  ended_at timestamptz,
  -- How it has ended.
  outcome text check (outcome in ('completed', 'cancelled', 'expired')),
  check_at timestamptz not null,
  lock_token uuid,
  locked_until timestamptz,
  constraint batches_end_has_outcome check ((ended_at is null) = (outcome is null))
);
create index batches_due on batches (check_at) where ended_at is null;
create index batches_of_user on batches (user_id, created_at desc, id desc);

-- Of a batch that has not ended.
create table batch_lines (
  batch_id uuid not null references batches (id) on delete cascade,
  number integer not null,
  custom_id text not null,
  body jsonb not null,
  -- What its line of the output or of the errors says; null: it has not been answered.
  answer jsonb,
  is_error boolean,
  primary key (batch_id, number)
);
create index batch_lines_open on batch_lines (batch_id, number) where answer is null;
