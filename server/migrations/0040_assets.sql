-- Assets that go in pieces, and what each user stores, counted as it changes.

-- A deleted asset is gone for everybody at once; its rows follow in pieces.
alter table assets add column deleted_at timestamptz;
create index assets_deleted on assets (deleted_at) where deleted_at is not null;
-- Deleting a revision asks whether an asset names it.
create index assets_revision on assets (revision_id);

-- What a user stores: each blob that the files of their assets have, in any revision, and how many
-- of these files have it. What several of them have counts once.
create table user_blobs (
  user_id text not null references users (id) on delete cascade,
  sha256 text not null,
  size_bytes bigint not null,
  files bigint not null check (files >= 0),
  primary key (user_id, sha256)
);

-- The sum of `user_blobs.size_bytes`. Whoever changes what a user stores holds this row.
create table user_storage (
  user_id text primary key references users (id) on delete cascade,
  bytes bigint not null default 0 check (bytes >= 0)
);

-- Runs after each statement that adds or deletes files; `changed` has these.
create function count_stored_files() returns trigger language plpgsql as $$
begin
  insert into user_storage (user_id)
  select distinct a.owner_user_id from changed c join assets a on a.id = c.asset_id
  where a.owner_user_id is not null
  order by 1
  on conflict do nothing;

  perform from user_storage where user_id in (
    select a.owner_user_id from changed c join assets a on a.id = c.asset_id
  ) order by user_id for update;

  if tg_op = 'INSERT' then
    with added as (
      select a.owner_user_id as user_id, c.sha256, max(c.size_bytes) as size_bytes, count(*) as files
      from changed c join assets a on a.id = c.asset_id
      where a.owner_user_id is not null
      group by 1, 2
    ), counted as (
      insert into user_blobs (user_id, sha256, size_bytes, files)
      select user_id, sha256, size_bytes, files from added
      on conflict (user_id, sha256) do update set files = user_blobs.files + excluded.files
    )
    update user_storage s set bytes = s.bytes + grown.bytes
    from (
      select user_id, sum(size_bytes)::bigint as bytes from added
      where not exists (
        select from user_blobs b where b.user_id = added.user_id and b.sha256 = added.sha256
      )
      group by user_id
    ) as grown
    where s.user_id = grown.user_id;
  else
    update user_blobs b set files = b.files - gone.files
    from (
      select a.owner_user_id as user_id, c.sha256, count(*) as files
      from changed c join assets a on a.id = c.asset_id
      where a.owner_user_id is not null
      group by 1, 2
    ) as gone
    where b.user_id = gone.user_id and b.sha256 = gone.sha256;

    with gone as (
      delete from user_blobs b using changed c, assets a
      where a.id = c.asset_id and b.user_id = a.owner_user_id and b.sha256 = c.sha256 and b.files = 0
      returning b.user_id, b.size_bytes
    )
    update user_storage s set bytes = s.bytes - freed.bytes
    from (select user_id, sum(size_bytes)::bigint as bytes from gone group by user_id) as freed
    where s.user_id = freed.user_id;
  end if;
  return null;
end $$;

create trigger asset_files_counted_in after insert on asset_files
  referencing new table as changed for each statement execute function count_stored_files();
create trigger asset_files_counted_out after delete on asset_files
  referencing old table as changed for each statement execute function count_stored_files();

-- A cascade deletes files when their asset, and with it their owner, is no longer known.
create function delete_files_of_asset() returns trigger language plpgsql as $$
begin
  delete from asset_files where asset_id = old.id;
  return old;
end $$;
create trigger assets_files_first before delete on assets
  for each row execute function delete_files_of_asset();

insert into user_blobs (user_id, sha256, size_bytes, files)
select a.owner_user_id, f.sha256, max(f.size_bytes), count(*)
from asset_files f join assets a on a.id = f.asset_id
where a.owner_user_id is not null
group by 1, 2;

insert into user_storage (user_id, bytes)
select user_id, sum(size_bytes) from user_blobs group by user_id;
