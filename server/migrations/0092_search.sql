-- What is typed into a search lies anywhere in the name, id, family or tags of an asset: trigrams find it without
-- looking at every row of its owner. The owner is in the same index, so that only own rows are intersected.
create extension if not exists pg_trgm;
create extension if not exists btree_gin;

-- The kind of model that it is or was made from, as people say it: 'llama', 'qwen'; empty where nobody said.
alter table assets add column family text not null default '';
update assets set family = case base_model_type when 'llama3' then 'llama' else base_model_type end
where base_model_type is not null;
with recursive tuned as (
  select id, 'llama' as family from assets where starter_slug = 'smollm2-135m-instruct'
  union
  select a.id, t.family from assets a join tuned t on a.parent_asset_id = t.id where a.family = ''
)
update assets a set family = t.family from tuned t where a.id = t.id;

-- What is searched: each name in lower case on a line of its own, and a line's end on both sides, so that a whole name
-- is found as one, too. Immutable, unlike array_to_string by itself: texts are written the same in every session.
create function asset_search_text(id text, title text, family text, base_model_type text, tags text[])
returns text language sql immutable parallel safe as $$
  select lower(concat(chr(10), concat_ws(chr(10), title, id, nullif(family, ''), base_model_type,
    nullif(array_to_string(tags, chr(10)), '')), chr(10)))
$$;
alter table assets add column search_text text not null
  generated always as (asset_search_text(id::text, title, family, base_model_type, tags)) stored;
-- What waits to be sorted in is read by every search: little may wait.
create index assets_by_words on assets using gin (owner_user_id, search_text gin_trgm_ops)
  with (gin_pending_list_limit = 256);
