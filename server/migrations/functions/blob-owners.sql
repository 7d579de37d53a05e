-- Owners of blobs, and the number of bytes that each user stores. Statement triggers of the tables that reference blobs
-- call the first two functions with their inserted or deleted rows, one array element per file. Rows of one owner
-- change in a fixed order, so that two statements cannot deadlock.

create or replace function add_blob_owners(sha256s text[], kinds text[], ids text[], sizes bigint[]) returns void
language sql as $$
  insert into blob_owners (sha256, owner_kind, owner_id, size_bytes, refs)
  select sha256, kind, id, max(size_bytes), count(*)
  from unnest(sha256s, kinds, ids, sizes) as added (sha256, kind, id, size_bytes)
  group by sha256, kind, id
  order by sha256, kind, id
  on conflict (sha256, owner_kind, owner_id) do update set refs = blob_owners.refs + excluded.refs
$$;

create or replace function remove_blob_owners(sha256s text[], kinds text[], ids text[]) returns void
language sql as $$
  update blob_owners o set refs = o.refs - gone.refs
  from (
    select sha256, kind, id, count(*) as refs
    from unnest(sha256s, kinds, ids) as gone (sha256, kind, id) group by sha256, kind, id
  ) as gone
  where o.sha256 = gone.sha256 and o.owner_kind = gone.kind and o.owner_id = gone.id;

  delete from blob_owners o
  using (select distinct sha256, kind, id from unnest(sha256s, kinds, ids) as gone (sha256, kind, id)) as gone
  where o.sha256 = gone.sha256 and o.owner_kind = gone.kind and o.owner_id = gone.id and o.refs = 0;
$$;

-- `user_storage.bytes` is the sum of a user's rows: a blob that several files share counts once.
create or replace function count_user_storage() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into user_storage (user_id, bytes)
    select owner_id, sum(size_bytes)::bigint from changed where owner_kind = 'user'
    group by owner_id order by owner_id
    on conflict (user_id) do update set bytes = user_storage.bytes + excluded.bytes;
  else
    update user_storage s set bytes = s.bytes - freed.bytes
    from (
      select owner_id, sum(size_bytes)::bigint as bytes from changed where owner_kind = 'user' group by owner_id
    ) as freed
    where s.user_id = freed.owner_id;
  end if;
  return null;
end $$;

create or replace trigger blob_owners_counted_in after insert on blob_owners
  referencing new table as changed for each statement execute function count_user_storage();
create or replace trigger blob_owners_counted_out after delete on blob_owners
  referencing old table as changed for each statement execute function count_user_storage();

-- A transaction that adds an owner locks the blob through the foreign key until it ends. A transaction that removes an
-- owner locks the blob `for update`, so each waits for the other: the transaction that removes the last owner sees that
-- no owner remains, and a transaction that adds an owner later sees `unowned`.
create or replace function note_unowned_blobs() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    perform from blobs where sha256 in (select sha256 from changed) order by sha256 for update;
    update blobs b set unowned = true
    where b.sha256 in (select sha256 from changed)
      and not exists (select from blob_owners o where o.sha256 = b.sha256);
    return null;
  end if;
  perform from blobs where sha256 in (select sha256 from changed) and unowned order by sha256 for no key update;
  update blobs set unowned = false where sha256 in (select sha256 from changed) and unowned;
  return null;
end $$;

create or replace trigger blob_owners_noted_in after insert on blob_owners
  referencing new table as changed for each statement execute function note_unowned_blobs();
create or replace trigger blob_owners_noted_out after delete on blob_owners
  referencing old table as changed for each statement execute function note_unowned_blobs();

create or replace function own_asset_files() returns trigger language plpgsql as $$
declare
  sha256s text[];
  kinds text[];
  ids text[];
  sizes bigint[];
begin
  -- Lock the user_storage row before changing what the user stores.
  insert into user_storage (user_id)
  select distinct a.owner_user_id from changed c join assets a on a.id = c.asset_id
  where a.owner_user_id is not null
  order by 1
  on conflict do nothing;

  perform from user_storage where user_id in (
    select a.owner_user_id from changed c join assets a on a.id = c.asset_id
  ) order by user_id for update;

  select array_agg(c.sha256), array_agg(case when a.owner_user_id is null then 'starter' else 'user' end),
    array_agg(coalesce(a.owner_user_id, '')), array_agg(c.size_bytes)
  into sha256s, kinds, ids, sizes
  from changed c join assets a on a.id = c.asset_id;

  if tg_op = 'INSERT' then perform add_blob_owners(sha256s, kinds, ids, sizes);
  else perform remove_blob_owners(sha256s, kinds, ids);
  end if;
  return null;
end $$;

create or replace trigger asset_files_owned after insert on asset_files
  referencing new table as changed for each statement execute function own_asset_files();
create or replace trigger asset_files_disowned after delete on asset_files
  referencing old table as changed for each statement execute function own_asset_files();

create or replace function own_artefacts() returns trigger language plpgsql as $$
begin
  if tg_op in ('INSERT', 'UPDATE') then
    perform add_blob_owners(
      array_agg(sha256), array_agg('workload'::text), array_agg(workload_id::text), array_agg(size_bytes)
    ) from added;
  end if;
  if tg_op in ('DELETE', 'UPDATE') then
    perform remove_blob_owners(array_agg(sha256), array_agg('workload'::text), array_agg(workload_id::text))
    from gone;
  end if;
  return null;
end $$;

create or replace trigger workload_artefacts_owned after insert on workload_artefacts
  referencing new table as added for each statement execute function own_artefacts();
create or replace trigger workload_artefacts_disowned after delete on workload_artefacts
  referencing old table as gone for each statement execute function own_artefacts();
-- Storing the same path again may replace its bytes.
create or replace trigger workload_artefacts_reowned after update on workload_artefacts
  referencing old table as gone new table as added for each statement execute function own_artefacts();

-- The owner of a picture also owns its thumbnail.
create or replace function own_pictures() returns trigger language plpgsql as $$
declare
  sha256s text[];
  kinds text[];
  ids text[];
  sizes bigint[];
begin
  -- Lock the user_storage row before changing what the user stores.
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

create or replace trigger generation_outputs_owned after insert on generation_outputs
  referencing new table as changed for each statement execute function own_pictures();
create or replace trigger generation_outputs_disowned after delete on generation_outputs
  referencing old table as changed for each statement execute function own_pictures();
create or replace trigger input_pictures_owned after insert on input_pictures
  referencing new table as changed for each statement execute function own_pictures();
create or replace trigger input_pictures_disowned after delete on input_pictures
  referencing old table as changed for each statement execute function own_pictures();

-- The owner of a video also owns its strip of frames if that is a separate file. own_pictures runs first (triggers fire
-- in the order of their names) and has locked the user_storage row.
create or replace function own_strips() returns trigger language plpgsql as $$
declare
  sha256s text[];
  kinds text[];
  ids text[];
  sizes bigint[];
begin
  select array_agg(strip_sha256), array_agg('user'::text), array_agg(user_id), array_agg(strip_bytes)
  into sha256s, kinds, ids, sizes
  from changed where strip_sha256 is not null;
  if sha256s is null then return null; end if;
  if tg_op = 'INSERT' then perform add_blob_owners(sha256s, kinds, ids, sizes);
  else perform remove_blob_owners(sha256s, kinds, ids);
  end if;
  return null;
end $$;

create or replace trigger generation_outputs_strips_owned after insert on generation_outputs
  referencing new table as changed for each statement execute function own_strips();
create or replace trigger generation_outputs_strips_disowned after delete on generation_outputs
  referencing old table as changed for each statement execute function own_strips();

-- The user owns the bytes of an upload once they are complete.
create or replace function own_uploads() returns trigger language plpgsql as $$
declare
  sha256s text[];
  kinds text[];
  ids text[];
  sizes bigint[];
begin
  if tg_op = 'UPDATE' then
    select array_agg(c.sha256), array_agg('user'::text), array_agg(c.user_id), array_agg(c.size_bytes)
    into sha256s, kinds, ids, sizes
    from changed c join before b on b.id = c.id where c.sha256 is not null and b.sha256 is null;
  else
    select array_agg(sha256), array_agg('user'::text), array_agg(user_id), array_agg(size_bytes)
    into sha256s, kinds, ids, sizes
    from changed where sha256 is not null;
  end if;
  if sha256s is null then return null; end if;
  -- Lock the user_storage row before changing what the user stores.
  insert into user_storage (user_id) select distinct id from unnest(ids) id order by 1 on conflict do nothing;
  perform from user_storage where user_id = any(ids) order by user_id for update;

  if tg_op = 'DELETE' then perform remove_blob_owners(sha256s, kinds, ids);
  else perform add_blob_owners(sha256s, kinds, ids, sizes);
  end if;
  return null;
end $$;

create or replace trigger uploads_owned after insert on uploads
  referencing new table as changed for each statement execute function own_uploads();
create or replace trigger uploads_completed after update on uploads
  referencing old table as before new table as changed for each statement execute function own_uploads();
create or replace trigger uploads_disowned after delete on uploads
  referencing old table as changed for each statement execute function own_uploads();

-- The user who sent a xorb owns it, but their storage does not count it: it counts the files that are made from it.
create or replace function own_xorbs() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    perform remove_blob_owners(array_agg(sha256), array_agg('xorb'::text), array_agg(user_id)) from changed;
  else
    perform add_blob_owners(
      array_agg(sha256), array_agg('xorb'::text), array_agg(user_id), array_agg(size_bytes)
    ) from changed;
  end if;
  return null;
end $$;

create or replace trigger hub_xorbs_owned after insert on hub_xorbs
  referencing new table as changed for each statement execute function own_xorbs();
create or replace trigger hub_xorbs_disowned after delete on hub_xorbs
  referencing old table as changed for each statement execute function own_xorbs();

-- The user also owns the sample pictures that the checkpoints of a run generate.
create or replace trigger run_samples_owned after insert on run_samples
  referencing new table as changed for each statement execute function own_uploads();
create or replace trigger run_samples_disowned after delete on run_samples
  referencing old table as changed for each statement execute function own_uploads();

-- The workload of the run owns the LoRA of a checkpoint: a user's storage counts only the models made from it.
create or replace function own_checkpoints() returns trigger language plpgsql as $$
begin
  if tg_op in ('INSERT', 'UPDATE') then
    perform add_blob_owners(
      array_agg(sha256), array_agg('workload'::text), array_agg(run_id::text), array_agg(size_bytes)
    ) from added where sha256 is not null;
  end if;
  if tg_op in ('DELETE', 'UPDATE') then
    perform remove_blob_owners(array_agg(sha256), array_agg('workload'::text), array_agg(run_id::text))
    from gone where sha256 is not null;
  end if;
  return null;
end $$;

create or replace trigger run_checkpoints_owned after insert on run_checkpoints
  referencing new table as added for each statement execute function own_checkpoints();
create or replace trigger run_checkpoints_disowned after delete on run_checkpoints
  referencing old table as gone for each statement execute function own_checkpoints();
create or replace trigger run_checkpoints_reowned after update on run_checkpoints
  referencing old table as gone new table as added for each statement execute function own_checkpoints();
