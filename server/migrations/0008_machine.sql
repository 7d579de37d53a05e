-- What the server prepares in the background after its start: one row per step, for every process to read.
create type preparation_id as enum ('serving', 'starter-language-model', 'training');
create type preparation_state as enum ('waiting', 'running', 'ready', 'failed');

create table preparations (
  id preparation_id primary key,
  state preparation_state not null,
  -- What it is doing now, in words; with 'failed', what happened and what to do.
  detail text not null,
  -- 0 to 1; null while unknown.
  progress real check (progress between 0 and 1),
  -- Names the files that a finished step registered, so that a restart need not read them again.
  fingerprint text,
  updated_at timestamptz not null
);
