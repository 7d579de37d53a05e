-- A share link is of a generation, a run or a model. Links that were made before stay as they are.
alter table generation_shares rename to share_links;
alter index generation_shares_by_user rename to share_links_by_user;
alter table share_links
  alter column generation_id drop not null,
  add column run_id uuid unique references runs (id) on delete cascade,
  -- A model.
  add column asset_id uuid unique references assets (id) on delete cascade,
  add constraint share_links_of_one_thing check (num_nonnulls(generation_id, run_id, asset_id) = 1);
