-- Datasets and models: revisions of lists of files, whose bytes are blobs named by their SHA-256.

create table assets (
  id uuid primary key default gen_random_uuid(),
  -- Null: a starter model, which everybody may read and nobody may change.
  owner_user_id text references users (id) on delete cascade,
  is_starter boolean not null default false,
  -- Names a starter model across starts.
  starter_slug text unique,
  dataset_type text not null check (dataset_type in ('RAW', 'MODEL')),
  title text not null,
  category text not null,
  details text not null,
  tags text[] not null default '{}',
  price_micro bigint not null default 0 check (price_micro >= 0),
  embedding_model text not null default '',
  dimensions integer not null default 0 check (dimensions >= 0),
  is_published boolean not null default false,
  base_model_type text,
  parent_asset_id uuid references assets (id) on delete set null,
  -- The newest revision; null before the first file. Kept here with the numbers that lists show.
  revision_id uuid,
  file_count integer not null default 0,
  size_bytes bigint not null default 0,
  -- Milliseconds, so that a cursor in JavaScript is exact.
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  check (is_starter = (owner_user_id is null)),
  check (is_starter = (starter_slug is not null))
);
-- The three orders of lists, with the id that makes each one total.
create index assets_by_update on assets (owner_user_id, dataset_type, updated_at, id);
create index assets_by_title on assets (owner_user_id, dataset_type, lower(title), id);
create index assets_by_size on assets (owner_user_id, dataset_type, size_bytes, id);
create index assets_parent on assets (parent_asset_id);

create table revisions (
  id uuid primary key default gen_random_uuid(),
  asset_id uuid not null references assets (id) on delete cascade,
  -- Counts from 1 within the asset.
  number integer not null check (number > 0),
  created_at timestamptz(3) not null default now(),
  unique (asset_id, number)
);

alter table assets add foreign key (revision_id) references revisions (id) deferrable initially deferred;

-- The files of all revisions: each row is in the revisions first_number to last_number, null
-- meaning that the newest still has it. So a revision costs as many rows as files changed in it,
-- and what a revision lists never changes.
create table asset_files (
  asset_id uuid not null references assets (id) on delete cascade,
  path text not null,
  first_number integer not null check (first_number > 0),
  last_number integer check (last_number >= first_number),
  sha256 text not null references blobs (sha256),
  size_bytes bigint not null check (size_bytes >= 0),
  uploaded_at timestamptz(3) not null default now(),
  primary key (asset_id, path, first_number)
);
create unique index asset_files_newest on asset_files (asset_id, path) where last_number is null;
create index asset_files_sha256 on asset_files (sha256);

-- What a model was made from. Titles are kept, since the sources may be deleted.
create table asset_lineage (
  asset_id uuid primary key references assets (id) on delete cascade,
  run_id uuid not null,
  base_asset_id uuid not null,
  base_revision_id uuid not null,
  base_title text not null,
  dataset_asset_id uuid not null,
  dataset_revision_id uuid not null,
  dataset_title text not null,
  created_at timestamptz not null default now()
);
create index asset_lineage_base on asset_lineage (base_asset_id);
create index asset_lineage_dataset on asset_lineage (dataset_asset_id);
