-- Pictures that are edited. One that belongs to a generation is its own, and goes with it; one that does not was uploaded,
-- and is kept for a day.
create table input_pictures (
  id uuid primary key default uuidv7(),
  user_id text not null references users (id),
  generation_id uuid unique references generations (id) on delete cascade,
  sha256 text not null references blobs (sha256),
  media_type text not null check (media_type in ('image/png', 'image/jpeg', 'image/webp')),
  size_bytes bigint not null check (size_bytes > 0),
  width integer not null check (width > 0),
  height integer not null check (height > 0),
  created_at timestamptz not null
);
create index input_pictures_by_user on input_pictures (user_id);
create index input_pictures_by_blob on input_pictures (sha256);
create index input_pictures_unused on input_pictures (created_at) where generation_id is null;

-- What a table of a user's pictures calls for each statement.
alter function own_generation_outputs() rename to own_pictures;
create trigger input_pictures_owned after insert on input_pictures
  referencing new table as changed for each statement execute function own_pictures();
create trigger input_pictures_disowned after delete on input_pictures
  referencing old table as changed for each statement execute function own_pictures();

-- An edit of what another generation has made is its child; all of a tree know the first of them, which itself has null.
alter table generations add column source_generation_id uuid references generations (id) on delete set null;
alter table generations add column root_generation_id uuid;
create index generations_by_source on generations (source_generation_id);
create index generations_by_root on generations (root_generation_id) where root_generation_id is not null;
