-- Whether the revisions of a dataset or model get addresses in IPFS, and are pinned where the operator has configured it.
alter table assets add column use_ipfs boolean not null default false;

-- The CID of a blob's bytes, which never changes.
create table blob_cids (
  sha256 text primary key references blobs (sha256) on delete cascade,
  cid text not null,
  -- Of all its blocks together, as the links of a folder state it.
  dag_bytes bigint not null check (dag_bytes >= 0)
);

-- Revisions of assets that use IPFS: each is leased until it has the CID of its folder. A revision that is replaced before
-- that goes.
create table revision_cids (
  id uuid primary key references revisions (id) on delete cascade,
  asset_id uuid not null references assets (id) on delete cascade,
  cid text,
  -- Why the last attempt failed.
  reason text,
  attempts integer not null default 0,
  check_at timestamptz not null default now(),
  lock_token uuid,
  locked_until timestamptz
);
create index revision_cids_asset on revision_cids (asset_id);
create index revision_cids_cid on revision_cids (cid);
create index revision_cids_due on revision_cids (check_at) where cid is null;

-- What is pinned at which service, or is to be. One whose CID no revision has any more is unpinned, and its row deleted.
create table ipfs_pins (
  id uuid primary key default gen_random_uuid(),
  cid text not null,
  service text not null check (service in ('kubo', 'pinning_service')),
  state text not null default 'queued' check (state in ('queued', 'pinning', 'pinned', 'failed')),
  reason text,
  -- The pinning service's own id of the pin.
  request_id text,
  -- Since it was last pinned.
  attempts integer not null default 0,
  -- When the service was last asked.
  checked_at timestamptz,
  check_at timestamptz not null default now(),
  lock_token uuid,
  locked_until timestamptz,
  unique (cid, service)
);
create index ipfs_pins_due on ipfs_pins (check_at);
