-- When the last replica that was added found no slot, or could not start: the next one waits a while.
alter table deployments add column no_room_at timestamptz;
