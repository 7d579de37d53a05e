-- How often a model or dataset was downloaded: by each user once an hour. Apart from the asset, whose row has many indexes.
create table asset_downloads (
  asset_id uuid primary key references assets (id) on delete cascade,
  downloads bigint not null check (downloads > 0)
);

-- Names by which the hub's clients found an asset before it was moved, in lower case. keep_old_names() writes them: one
-- leads to where the asset is now, until its owner uses it again.
create table asset_old_names (
  asset_id uuid not null references assets (id) on delete cascade,
  name text not null check (name = lower(name)),
  primary key (name, asset_id)
);
create index asset_old_names_asset on asset_old_names (asset_id);
