-- A cascade deletes files when their asset, and with it their owner, is no longer known.
create or replace function delete_files_of_asset() returns trigger language plpgsql as $$
begin
  delete from asset_files where asset_id = old.id;
  return old;
end $$;

create or replace trigger assets_files_first before delete on assets
  for each row execute function delete_files_of_asset();

-- The newest files of an asset from a path on, at most so many. By statistics, or a plan, from before many files came
-- it seems cheaper to sort all of them than to read a page in the order of the index: of 100,000 it took 126 ms and
-- not 0.3.
create or replace function newest_files(of_asset uuid, from_path text, most integer) returns setof asset_files
  language sql stable
  set enable_bitmapscan = off
  set enable_seqscan = off
as $$
  select * from asset_files
  where asset_id = of_asset and last_number is null and path >= from_path
  order by path limit most
$$;

-- What the columns of a data file hold quotes the file, and goes with its bytes.
create or replace function forget_column_statistics() returns trigger language plpgsql as $$
begin
  delete from column_statistics where sha256 = old.sha256;
  return null;
end $$;

create or replace trigger column_statistics_forgotten after delete on blobs
  for each row execute function forget_column_statistics();

-- Picks the name under which clients of the model hub find an asset, from its title: facts, then facts-2, facts-3. Where
-- many are called the same, from its id. The lock lets two of one title be made at once.
create or replace function pick_asset_name() returns trigger language plpgsql
  -- A plan from before there were many would read all of them for each.
  set plan_cache_mode = force_custom_plan
as $$
declare
  owner text := coalesce(new.owner_user_id, '');
  is_model boolean := new.dataset_type = 'MODEL';
  base text;
  candidate text;
  n integer := 1;
begin
  if new.name <> '' then
    return new;
  end if;
  -- Letters lose their accents, all else becomes a dash.
  base := regexp_replace(normalize(coalesce(new.starter_slug, new.title), NFKD), '[\u0300-\u036f]', '', 'g');
  base := regexp_replace(regexp_replace(base, '[^A-Za-z0-9_.-]+', '-', 'g'), '[.-]{2,}', '-', 'g');
  base := regexp_replace(trim(both '.-' from left(base, 80)), '(\.(git|ipynb))+$', '', 'i');
  if base = '' then
    base := case when is_model then 'model' else 'dataset' end;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('asset_name:' || owner, 0));
  candidate := base;
  while exists (
    select from assets
    where coalesce(owner_user_id, '') = owner and (dataset_type = 'MODEL') = is_model
      and lower(name) = lower(candidate) and deleted_at is null
  ) loop
    n := n + 1;
    candidate := base || '-' || case when n < 10 then n::text else left(md5(new.id::text), 10) end;
  end loop;
  new.name := candidate;
  return new;
end
$$;

create or replace trigger assets_named before insert on assets
  for each row execute function pick_asset_name();

-- The same of the files of any revision.
create or replace function revision_files(of_asset uuid, of_number integer, from_path text, most integer)
  returns setof asset_files
  language sql stable
  set enable_bitmapscan = off
  set enable_seqscan = off
as $$
  select * from asset_files
  where asset_id = of_asset and path >= from_path
    and first_number <= of_number and (last_number is null or last_number >= of_number)
  order by path limit most
$$;

-- A name that an asset had leads to it from now on; one that an asset has leads nowhere else any more, also once that one
-- is gone.
create or replace function keep_old_names() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    if lower(new.name) = lower(old.name) then
      return null;
    end if;
    delete from asset_old_names n using assets a
    where n.name = lower(old.name) and a.id = n.asset_id
      and coalesce(a.owner_user_id, '') = coalesce(new.owner_user_id, '')
      and (a.dataset_type = 'MODEL') = (new.dataset_type = 'MODEL');
    insert into asset_old_names (asset_id, name) values (new.id, lower(old.name));
  end if;
  delete from asset_old_names n using assets a
  where n.name = lower(new.name) and a.id = n.asset_id
    and coalesce(a.owner_user_id, '') = coalesce(new.owner_user_id, '')
    and (a.dataset_type = 'MODEL') = (new.dataset_type = 'MODEL');
  return null;
end $$;

create or replace trigger assets_keep_old_names after insert or update of name on assets
  for each row execute function keep_old_names();
