-- Files that come in parts. One whose bytes are whole keeps them, as its user's own, until a file names them.
create table uploads (
  id uuid primary key default uuidv7(),
  user_id text not null references users (id),
  -- The blob store's name for the parts.
  store_key text not null unique,
  size_bytes bigint not null check (size_bytes > 0),
  part_bytes bigint not null check (part_bytes > 0),
  -- What its sender says of the whole file, if anything.
  announced_sha256 text check (announced_sha256 ~ '^[0-9a-f]{64}$'),
  -- Once the bytes are whole.
  sha256 text references blobs (sha256),
  created_at timestamptz not null default now(),
  completed_at timestamptz,
  constraint uploads_completed_check check ((sha256 is null) = (completed_at is null))
);
create index uploads_by_user on uploads (user_id, id);
create index uploads_by_time on uploads (created_at);
create index uploads_sha256 on uploads (sha256);

-- A row is written once the bytes of the part are safe on the disk.
create table upload_parts (
  upload_id uuid not null references uploads (id) on delete cascade,
  -- From 1.
  number integer not null check (number > 0),
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  size_bytes bigint not null check (size_bytes > 0),
  received_at timestamptz not null default now(),
  primary key (upload_id, number)
);

-- Which file of which asset an upload becomes.
create table asset_uploads (
  -- That of the upload.
  id uuid primary key,
  asset_id uuid not null references assets (id) on delete cascade,
  path text not null,
  -- What it has made: who asks again is told the same.
  revision_id uuid,
  created_at timestamptz not null default now()
);
create index asset_uploads_by_asset on asset_uploads (asset_id, id);
create unique index asset_uploads_unfinished on asset_uploads (asset_id, path) where revision_id is null;
create index asset_uploads_by_time on asset_uploads (created_at);

-- Datasets that everybody may use make nothing.
alter table assets
  drop constraint assets_starter_task_check1,
  add constraint assets_starter_task_check1
    check ((starter_task is not null) = (starter_slug is not null and dataset_type = 'MODEL'));
