-- What the newest card of an asset says, kept here because hub lists filter by it.
alter table assets
  add column card_tags text[] not null default '{}',
  add column pipeline_tag text,
  add column library_name text;

-- The same tags as `toCardFields`.
update assets
set card_tags = array(
    select distinct prefix || left(btrim(value #>> '{}'), 200)
    from (values
      ('tags', ''), ('pipeline_tag', ''), ('library_name', ''), ('license', 'license:'), ('language', ''),
      ('language', 'language:'), ('base_model', 'base_model:'), ('datasets', 'dataset:'),
      ('task_categories', 'task_categories:'), ('size_categories', 'size_categories:')
    ) field (name, prefix),
      jsonb_path_query(card.data, ('lax $.' || name || '[*]')::jsonpath) value
    where jsonb_typeof(value) = 'string' and btrim(value #>> '{}') <> ''
  ),
  pipeline_tag = (select left(btrim(value #>> '{}'), 200)
    from jsonb_path_query_first(card.data, '$.pipeline_tag') value where jsonb_typeof(value) = 'string'),
  library_name = (select left(btrim(value #>> '{}'), 200)
    from jsonb_path_query_first(card.data, '$.library_name') value where jsonb_typeof(value) = 'string')
from asset_files file
join card_data card on card.sha256 = file.sha256
where file.asset_id = assets.id and file.path = 'README.md' and file.last_number is null and card.data is not null;

drop index assets_by_tag;
create index assets_by_tag on assets using gin (owner_user_id, (tags || card_tags)) with (gin_pending_list_limit = 256);
