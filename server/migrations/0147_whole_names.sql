-- Whoever types a whole name gets what is called just that first. Trigrams cannot tell it from the names that it is a
-- part of, and would have each of them looked at.
create index assets_by_name on assets using gin (owner_user_id, string_to_array(search_text, chr(10)));
