-- A data file that takes long to be read before a run is read in the background. What it came to is kept, under the hash
-- of all that decides it, so that nobody reads the same again.
create table data_readings (
  id uuid primary key default gen_random_uuid(),
  user_id text not null references users (id) on delete cascade,
  -- SHA-256 over the files' hashes and the settings.
  data_name text not null,
  dataset_asset_id uuid not null references assets (id) on delete cascade,
  file_name text not null,
  -- As it was written: its order decides the name.
  input json not null,
  state text not null default 'reading' check (state in ('reading', 'done', 'failed', 'cancelled')),
  rows_read integer not null default 0,
  -- Of the file, from 0 to 1.
  part double precision not null default 0 check (part between 0 and 1),
  -- The sentence that says why it failed.
  reason text,
  report jsonb,
  created_at timestamptz not null,
  ended_at timestamptz,
  check ((state = 'reading') = (ended_at is null)),
  check ((state = 'done') = (report is not null))
);
create unique index data_readings_one_at_once on data_readings (user_id, data_name) where state = 'reading';
create index data_readings_of_user on data_readings (user_id, created_at desc);
create index data_readings_of_dataset on data_readings (dataset_asset_id);
create index data_readings_reports on data_readings (data_name) where state = 'done';
