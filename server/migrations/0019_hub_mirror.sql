-- What the hub's clients ask for and is not here comes from the public hub, for everybody: such a clone has no user, nor do
-- the uploads of its bytes.
alter table uploads alter column user_id drop not null;
alter table hub_clones alter column user_id drop not null;
drop index hub_clones_open;
-- One repository is cloned once at a time.
create unique index hub_clones_open on hub_clones (coalesce(user_id, ''), dataset_type, repo_id) where ended_at is null;
create index hub_clones_mirror on hub_clones (lower(repo_id), id) where user_id is null;

-- The result has the name that it has there, and makes nothing by itself.
alter table assets
  -- Before the name; null: that of the owner.
  add column namespace text check (namespace is null or owner_user_id is null),
  drop constraint assets_starter_task_check1,
  add constraint assets_starter_task_check1
    check ((starter_task is not null) = (starter_slug is not null and dataset_type = 'MODEL' and namespace is null));
drop index assets_repository;
create unique index assets_repository
  on assets (coalesce(owner_user_id, ''), (dataset_type = 'MODEL'), lower(name), lower(coalesce(namespace, '')))
  where deleted_at is null;

-- When the public hub was last asked whether there is a newer commit; null of what does not follow it.
alter table asset_sources add column looked_up_at timestamptz;
