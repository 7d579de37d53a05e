-- Copies of repositories of the public hub, as work that is leased.
create table hub_clones (
  id uuid primary key default uuidv7(),
  user_id text not null references users (id),
  repo_id text not null,
  dataset_type text not null check (dataset_type in ('RAW', 'MODEL')),
  -- The commit that is copied, whatever the hub's branch says meanwhile.
  commit_id text not null check (commit_id ~ '^[0-9a-f]{40}$'),
  state text not null default 'QUEUED'
    check (state in ('QUEUED', 'LISTING', 'COPYING', 'COMPLETED', 'FAILED', 'CANCELLED')),
  reason text not null default '',
  -- Null until the files are listed.
  files_total integer check (files_total >= 0),
  bytes_total bigint check (bytes_total >= 0),
  files_done integer not null default 0,
  bytes_done bigint not null default 0,
  -- Of the last seconds.
  bytes_per_second bigint,
  -- What it has made.
  asset_id uuid references assets (id) on delete set null,
  -- How often it was begun.
  attempt integer not null default 0,
  check_at timestamptz not null,
  lock_token uuid,
  locked_until timestamptz,
  created_at timestamptz not null,
  started_at timestamptz,
  ended_at timestamptz
);
create index hub_clones_by_user on hub_clones (user_id, id);
create index hub_clones_due on hub_clones (check_at) where ended_at is null;
create index hub_clones_asset on hub_clones (asset_id);
-- One repository is cloned once at a time.
create unique index hub_clones_open on hub_clones (user_id, dataset_type, repo_id) where ended_at is null;

-- What a clone copies, until it has ended. The bytes are those of an upload of its user.
create table hub_clone_files (
  clone_id uuid not null references hub_clones (id) on delete cascade,
  path text collate "C" not null,
  size_bytes bigint not null check (size_bytes >= 0),
  -- What the hub says of its content: the SHA-256 of a large file, git's hash of any other.
  sha256 text check (sha256 ~ '^[0-9a-f]{64}$'),
  git_sha1 text not null check (git_sha1 ~ '^[0-9a-f]{40}$'),
  upload_id uuid references uploads (id) on delete set null,
  -- Whole and checked.
  is_copied boolean not null default false,
  primary key (clone_id, path)
);
create index hub_clone_files_upload on hub_clone_files (upload_id);

create table hub_clone_lines (
  clone_id uuid not null references hub_clones (id) on delete cascade,
  id bigint generated always as identity,
  line text not null,
  primary key (clone_id, id)
);

-- Tokens of users for the public hub, encrypted.
create table hub_tokens (
  user_id text primary key references users (id),
  encrypted bytea not null,
  -- Whose it is there.
  account text not null,
  saved_at timestamptz not null
);

-- Where a dataset or model was copied from.
create table asset_sources (
  asset_id uuid primary key references assets (id) on delete cascade,
  hub_url text not null,
  repo_id text not null,
  commit_id text not null
);
create index asset_sources_repo on asset_sources (repo_id);
