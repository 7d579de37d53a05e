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
