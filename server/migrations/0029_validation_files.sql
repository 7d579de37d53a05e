-- The file that measures a run, where it is one of its own and not part of the rows that it trains on.
alter table runs
  add column validation_asset_id uuid,
  add column validation_revision_id uuid,
  add column validation_title text,
  add column validation_file_name text,
  add check (num_nulls(validation_asset_id, validation_revision_id, validation_title, validation_file_name) in (0, 4));
