-- Trigrams of ids are in the way of those of names: of random ids a quarter has a part that begins with a 9. So ids are
-- searched in a column of their own in the same index, and only for what may lie in one.
drop index assets_by_words;
alter table assets alter column search_text
  set expression as (asset_search_text(null, title, family, base_model_type, tags));
create index assets_by_words on assets using gin (owner_user_id, search_text gin_trgm_ops, (id::text) gin_trgm_ops)
  with (gin_pending_list_limit = 256);
analyze assets;
