-- A generation may have a second input picture: the mask that limits its edit.
alter table input_pictures add column role text not null default 'source' check (role in ('source', 'mask'));
alter table input_pictures drop constraint input_pictures_generation_id_key;
create unique index input_pictures_by_generation on input_pictures (generation_id, role);
