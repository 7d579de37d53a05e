-- What runs on machines. The words are explained in src/engine/workload.ts.

create table workloads (
  id uuid primary key default gen_random_uuid(),
  -- Whose turn it takes in the queue. Null: it serves everybody.
  user_id text references users (id),
  behaviour text not null check (behaviour in ('run', 'deployment')),
  -- Which module answers for it.
  kind text not null,
  title text not null,
  -- What the runtime is told, without what is only known at start. Never changes.
  spec jsonb not null,
  -- Slots that it takes: GPUs of one type, or one CPU slot where accelerator is null.
  accelerator text,
  accelerator_count integer not null check (accelerator_count between 0 and 8),
  -- How long it is expected to work; for the estimate of those who wait behind it.
  expected_seconds double precision,

  wanted text not null default 'running' check (wanted in ('running', 'stopped')),
  state text not null default 'queued' check (state in (
    'queued', 'scheduling', 'pulling', 'starting', 'ready', 'degraded', 'stopping',
    'completed', 'stopped', 'failed')),
  reason text not null default '',

  -- Which GPUs it holds; empty on the CPU, null while it holds no slot.
  devices integer[],
  -- Every start is an attempt of its own, with its own token.
  attempt integer not null default 0,
  token_sha256 bytea,
  -- The server itself stopped this attempt, to go on later.
  interrupted boolean not null default false,
  -- Starts after an interruption; and those in a row that came no further.
  restarts integer not null default 0,
  failures integer not null default 0,

  -- From its reports.
  accepted_seq integer not null default 0,
  phase text,
  done double precision,
  total double precision,
  unit text check (unit in ('steps', 'bytes', 'examples')),
  remaining_seconds double precision,
  step integer not null default 0,
  steps_total integer not null default 0,
  base_url text,
  -- How far its output has been copied into the log.
  output_offset integer not null default 0,
  -- Its last word in this attempt: a report of type result, failed or stopped.
  outcome jsonb,
  -- Seconds of work, counted from report to report; and those that a checkpoint has saved.
  active_seconds double precision not null default 0,
  saved_seconds double precision not null default 0,

  -- Whoever holds the token may change the row until the lease ends.
  lock_token uuid,
  locked_until timestamptz,
  -- When it has to be looked at again.
  check_at timestamptz not null,

  created_at timestamptz not null,
  queued_at timestamptz not null,
  -- Not before this time: the pause after a failure.
  not_before timestamptz not null,
  attempt_started_at timestamptz,
  -- The first start of all attempts; the last time that one became ready.
  started_at timestamptz,
  ready_at timestamptz,
  last_report_at timestamptz,
  stop_requested_at timestamptz,
  stop_reason text,
  ended_at timestamptz,
  files_removed_at timestamptz,

  check ((ended_at is not null) = (state in ('completed', 'stopped', 'failed'))),
  check ((accelerator is null) = (accelerator_count = 0)),
  check ((wanted = 'stopped') = (stop_requested_at is not null))
);
-- All that is asked every second says 'ended_at is null' or looks for files: what has ended costs nothing.
create index workloads_due on workloads (check_at) where ended_at is null;
create index workloads_with_files on workloads (ended_at) where ended_at is not null and files_removed_at is null;
create index workloads_completed_with_files on workloads (id) where state = 'completed' and files_removed_at is null;

create function refuse_another_spec() returns trigger language plpgsql as $$
begin
  raise exception 'The spec of a workload never changes';
end
$$;
create trigger workloads_spec before update on workloads
  for each row when (old.spec is distinct from new.spec) execute function refuse_another_spec();

-- One point of the curves per step; a step that is done again after a restart replaces it.
create table workload_metrics (
  workload_id uuid not null references workloads (id) on delete cascade,
  step integer not null,
  at timestamptz not null,
  values jsonb not null,
  primary key (workload_id, step)
);

-- The end of the log: older lines leave as new ones come.
create table workload_logs (
  workload_id uuid not null references workloads (id) on delete cascade,
  id bigint generated always as identity,
  at timestamptz not null,
  line text not null,
  primary key (workload_id, id)
);

-- What a workload has stored and its result may name. Rows go with the workload's files.
create table workload_artefacts (
  workload_id uuid not null references workloads (id) on delete cascade,
  path text not null,
  sha256 text not null references blobs (sha256),
  size_bytes bigint not null,
  stored_at timestamptz not null,
  primary key (workload_id, path)
);
create index workload_artefacts_sha256 on workload_artefacts (sha256);
