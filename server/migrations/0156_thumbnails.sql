-- A small copy of a picture, for lists; null where the picture itself is small, or none could be made.
alter table generation_outputs add column thumbnail_sha256 text references blobs (sha256);
alter table generation_outputs add column thumbnail_bytes bigint;
alter table generation_outputs add check ((thumbnail_sha256 is null) = (thumbnail_bytes is null));
create index generation_outputs_by_thumbnail on generation_outputs (thumbnail_sha256);

alter table input_pictures add column thumbnail_sha256 text references blobs (sha256);
alter table input_pictures add column thumbnail_bytes bigint;
alter table input_pictures add check ((thumbnail_sha256 is null) = (thumbnail_bytes is null));
create index input_pictures_by_thumbnail on input_pictures (thumbnail_sha256);

-- As before, with the thumbnails: who keeps a picture keeps its small copy too.
create or replace function own_pictures() returns trigger language plpgsql as $$
declare
  sha256s text[];
  kinds text[];
  ids text[];
  sizes bigint[];
begin
  -- Whoever changes what a user stores holds their row.
  insert into user_storage (user_id) select distinct user_id from changed order by 1 on conflict do nothing;
  perform from user_storage where user_id in (select user_id from changed) order by user_id for update;

  select array_agg(sha256), array_agg('user'::text), array_agg(user_id), array_agg(size_bytes)
  into sha256s, kinds, ids, sizes
  from (
    select sha256, user_id, size_bytes from changed
    union all
    select thumbnail_sha256, user_id, thumbnail_bytes from changed where thumbnail_sha256 is not null
  ) as stored;
  if tg_op = 'INSERT' then perform add_blob_owners(sha256s, kinds, ids, sizes);
  else perform remove_blob_owners(sha256s, kinds, ids);
  end if;
  return null;
end $$;
