-- A user's usage windows are listed page by page in the order in which they were opened.
drop index usage_windows_by_user;
create index usage_windows_by_user on usage_windows (user_id, opened_at, id);
