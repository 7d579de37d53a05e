-- How much time the open hold of a deployment pays for: an hour, or as long as credit and budget last.
alter table deployments add column held_ms bigint not null default 3600000;
