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
