-- The machines of this installation, one for each data folder (its file `machine` says which).
create table machines (
  id uuid primary key,
  name text not null,
  -- Where the other machines reach its server, and its model servers; null: nobody has answered there yet.
  url text,
  host text not null,
  driver text not null,
  -- Its slots, and what keeps specs from starting there; null before its first beat.
  offer jsonb,
  -- It holds the bytes of all files; the others read and write them there.
  holds_blobs boolean not null,
  -- Over the server's secret: all machines have the same one.
  secret_check bytea not null,
  started_at timestamptz not null,
  -- The last beat of the server that runs its workloads.
  seen_at timestamptz
);
create unique index machines_blob_holder on machines (holds_blobs) where holds_blobs;

-- The server processes. Each writes its row every few seconds: where that fails, it takes in nothing
-- of what workloads and people say either.
create table processes (
  id uuid primary key,
  machine_id uuid not null references machines (id),
  roles text[] not null,
  -- When the beats began that have not been broken since.
  since timestamptz not null,
  seen_at timestamptz not null,
  -- It ended in good order.
  left_at timestamptz
);
drop table workload_listening;
drop table gateways;

-- Where a workload was started last, and its files are. Null: nowhere. The first machine that starts
-- takes what an earlier version has left.
alter table workloads add column machine_id uuid references machines (id);
-- Seconds of work that were counted when its owner last resumed it; a run whose files are lost falls back to them.
alter table workloads add column resumed_seconds double precision not null default 0;
update workloads set resumed_seconds = runs.settled_seconds
from runs where runs.id = workloads.id and runs.settled_seconds > 0;

-- Each machine prepares itself.
alter table preparations drop constraint preparations_pkey;
alter table preparations add column machine_id uuid references machines (id);
alter table preparations add constraint preparations_machine unique nulls not distinct (machine_id, id);
