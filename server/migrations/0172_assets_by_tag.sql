-- A list that is narrowed to a tag which few assets have: without it all of their owner's are read.
create index assets_by_tag on assets using gin (owner_user_id, tags) with (gin_pending_list_limit = 256);
