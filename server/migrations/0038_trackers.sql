-- Experiment trackers that users have connected: the curves of their runs are logged there as well.
create table trackers (
  user_id text not null references users (id),
  service text not null check (service in ('wandb', 'mlflow')),
  project text not null,
  -- Of MLflow alone.
  url text,
  -- Null where the service asks for no key.
  encrypted bytea,
  -- Whose the key is there, where the service says so.
  account text,
  connected_at timestamptz not null,
  -- Why nothing is logged for now.
  trouble text,
  -- The service no longer accepts the key: it is not asked again until its owner saves another one.
  is_refused boolean not null default false,
  primary key (user_id, service)
);

-- Runs that are logged there.
create table tracked_runs (
  run_id uuid not null references runs (id) on delete cascade,
  service text not null,
  user_id text not null references users (id),
  -- What the service calls it, and its page there; null until it is made.
  remote_id text,
  url text,
  -- How many points it has there, the last of them, and the last value of each metric.
  points_sent integer not null default 0,
  step_sent integer not null default -1,
  last_values jsonb not null default '{}',
  -- Nothing more is logged of it.
  closed_at timestamptz,
  trouble text,
  primary key (run_id, service)
);
create index tracked_runs_open on tracked_runs (user_id, service) where closed_at is null;
