-- Only generations are shared by links: links of runs and models end.
delete from share_links where generation_id is null;
alter table share_links
  drop constraint share_links_of_one_thing,
  drop column run_id,
  drop column asset_id,
  alter column generation_id set not null;

-- Only the pages of shared models read this.
alter table asset_sources drop column without_token;
