-- The server no longer copies repositories of the public hub for everybody.
delete from hub_clones where user_id is null;
delete from uploads where user_id is null;
drop index hub_clones_mirror;
drop index hub_clones_open;
alter table hub_clones alter column user_id set not null;
alter table uploads alter column user_id set not null;
create unique index hub_clones_open on hub_clones (user_id, dataset_type, repo_id) where ended_at is null;
alter table asset_sources drop column looked_up_at;

-- Models and datasets that it copied stay, because deployments and fine-tunes may use them. Their namespace becomes part of
-- their name.
drop index assets_repository;
with copied as (
  select id, dataset_type = 'MODEL' as is_model, rtrim(left(namespace || '-' || name, 80), '.-') as wanted
  from assets where namespace is not null and deleted_at is null
), ranked as (
  select *, row_number() over (partition by is_model, lower(wanted) order by id) as place from copied
)
update assets set name = wanted || case
  when place > 1 or exists (
    select from assets other where other.owner_user_id is null and other.namespace is null and other.deleted_at is null
      and (other.dataset_type = 'MODEL') = is_model and lower(other.name) = lower(wanted)
  ) then '-' || left(md5(assets.id::text), 10) else '' end
from ranked where ranked.id = assets.id;
alter table assets
  drop constraint assets_starter_task_check1,
  add constraint assets_starter_task_check1
    check (starter_task is null or (starter_slug is not null and dataset_type = 'MODEL')),
  drop column namespace;
create unique index assets_repository on assets (coalesce(owner_user_id, ''), (dataset_type = 'MODEL'), lower(name))
  where deleted_at is null;
