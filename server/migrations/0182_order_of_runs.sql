-- A page of runs begins behind the last one of the page before, by moment or title and then by id. With the id in
-- the index, a page reads no more than its own rows, also where many runs were started at the same moment.
create index runs_by_creation on runs (user_id, created_at desc, id desc);
create index runs_by_title on runs (user_id, lower(title), id);
drop index runs_by_user;
