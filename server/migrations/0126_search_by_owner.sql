-- In an index over the trigrams of all owners, the lists of the frequent ones grow with what everybody has, and each
-- search walks them. Here the owner is part of every key, so that a search reads what its owner has, and no more.

-- Each three letters in a row of what is searched, hashed with the owner: what is found by them is compared as text.
-- Any script has them, unlike the trigrams of pg_trgm.
create function asset_search_trigrams(owner text, words text)
returns integer[] language sql immutable strict parallel safe cost 1000 as $$
  select coalesce(array_agg(distinct hashtext(concat(owner, chr(10), substr(words, place, 3)))), '{}')
  from generate_series(1, length(words) - 2) place
$$;

drop index assets_by_words;
-- What waits to be sorted in is read by every search: little may wait.
create index assets_by_trigrams on assets using gin (asset_search_trigrams(owner_user_id, search_text))
  with (gin_pending_list_limit = 256);
