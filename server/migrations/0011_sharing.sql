-- Who reads a dataset or model beside its owner: everybody, where it is published, and users with whom it is shared.

-- Until now is_published opened nothing: what was said then is no leave to show files to everybody.
update assets set is_published = false where is_published;

create table asset_shares (
  asset_id uuid not null references assets (id) on delete cascade,
  user_id text not null references users (id),
  created_at timestamptz(3) not null default now(),
  primary key (asset_id, user_id)
);
create index asset_shares_by_user on asset_shares (user_id, asset_id);

-- What everybody reads is listed and searched beside what a user owns, each by indexes of its own: those of owners would
-- have each owner looked at. Rows that are not published cost them nothing.
create index assets_published_by_creation on assets (dataset_type, created_at, id) where is_published and deleted_at is null;
create index assets_published_by_owner on assets (owner_user_id, dataset_type, updated_at, id)
  where is_published and deleted_at is null;
create index assets_published_by_size on assets (dataset_type, size_bytes, id) where is_published and deleted_at is null;
create index assets_published_by_title on assets (dataset_type, lower(title), id) where is_published and deleted_at is null;
create index assets_published_by_update on assets (dataset_type, updated_at, id) where is_published and deleted_at is null;
create index assets_published_by_name on assets using gin (string_to_array(search_text, chr(10)))
  where is_published and deleted_at is null;
create index assets_published_by_tag on assets using gin (tags) with (gin_pending_list_limit = 256)
  where is_published and deleted_at is null;
create index assets_published_by_words on assets using gin (search_text gin_trgm_ops, (id::text) gin_trgm_ops)
  with (gin_pending_list_limit = 256) where is_published and deleted_at is null;
create index assets_published_loras on assets (created_at, id) where is_lora and is_published and deleted_at is null;
