-- Who keeps which bytes, in one table, whatever table names them; and from it what each user stores.

create table blob_owners (
  sha256 text not null references blobs (sha256),
  -- 'user': files of their assets, in any revision. 'starter': files of starter models, which are nobody's.
  -- 'workload': what it has stored.
  owner_kind text not null check (owner_kind in ('user', 'starter', 'workload')),
  -- Of the user or the workload; empty for starter models.
  owner_id text not null,
  size_bytes bigint not null check (size_bytes >= 0),
  -- How many files of this owner have these bytes.
  refs bigint not null check (refs >= 0),
  primary key (sha256, owner_kind, owner_id)
);

-- `user_storage.bytes` is the sum of a user's rows: what several files have counts once.
create function count_user_storage() returns trigger language plpgsql as $$
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

drop trigger asset_files_counted_in on asset_files;
drop trigger asset_files_counted_out on asset_files;
drop function count_stored_files();

insert into blob_owners (sha256, owner_kind, owner_id, size_bytes, refs)
select sha256, 'user', user_id, size_bytes, files from user_blobs
union all
select f.sha256, 'starter', '', max(f.size_bytes), count(*)
from asset_files f join assets a on a.id = f.asset_id
where a.owner_user_id is null
group by f.sha256
union all
select sha256, 'workload', workload_id::text, max(size_bytes), count(*)
from workload_artefacts group by sha256, workload_id;

drop table user_blobs;

create trigger blob_owners_counted_in after insert on blob_owners
  referencing new table as changed for each statement execute function count_user_storage();
create trigger blob_owners_counted_out after delete on blob_owners
  referencing old table as changed for each statement execute function count_user_storage();

-- What a table that names bytes calls for each statement: the rows that it has added or deleted, one per file,
-- as arrays. Rows of one owner change in one order, so that two statements do not wait for each other.
create function add_blob_owners(sha256s text[], kinds text[], ids text[], sizes bigint[]) returns void
language sql as $$
  insert into blob_owners (sha256, owner_kind, owner_id, size_bytes, refs)
  select sha256, kind, id, max(size_bytes), count(*)
  from unnest(sha256s, kinds, ids, sizes) as added (sha256, kind, id, size_bytes)
  group by sha256, kind, id
  order by sha256, kind, id
  on conflict (sha256, owner_kind, owner_id) do update set refs = blob_owners.refs + excluded.refs
$$;

create function remove_blob_owners(sha256s text[], kinds text[], ids text[]) returns void
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

create function own_asset_files() returns trigger language plpgsql as $$
declare
  sha256s text[];
  kinds text[];
  ids text[];
  sizes bigint[];
begin
  -- Whoever changes what a user stores holds their row.
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

create trigger asset_files_owned after insert on asset_files
  referencing new table as changed for each statement execute function own_asset_files();
create trigger asset_files_disowned after delete on asset_files
  referencing old table as changed for each statement execute function own_asset_files();

create function own_artefacts() returns trigger language plpgsql as $$
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

create trigger workload_artefacts_owned after insert on workload_artefacts
  referencing new table as added for each statement execute function own_artefacts();
create trigger workload_artefacts_disowned after delete on workload_artefacts
  referencing old table as gone for each statement execute function own_artefacts();
-- The same path stored again may have other bytes.
create trigger workload_artefacts_reowned after update on workload_artefacts
  referencing old table as gone new table as added for each statement execute function own_artefacts();
