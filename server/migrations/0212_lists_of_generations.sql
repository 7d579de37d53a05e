-- Lists that are narrowed read what they show, however many pictures a user has.
create index generations_by_words on generations using gin (user_id, lower(prompt) gin_trgm_ops)
  with (gin_pending_list_limit = 256);
create index generations_by_tree on generations (user_id, coalesce(root_generation_id, id), id desc);
create index generations_by_end on generations (user_id, coalesce(ended_at, 'infinity'));
drop index generations_by_root;
