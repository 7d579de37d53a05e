-- How often in a row a start of this model server has failed that is tried again by itself: each pause is longer.
alter table model_servers add column failed_starts integer not null default 0;
