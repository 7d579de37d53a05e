-- What has changed for whom within a day, each thing once: a stream of events that was cut goes on from there.
create table recent_changes (
  -- Empty: for everybody.
  user_id text not null,
  topic text not null,
  thing_id text not null,
  at timestamptz not null,
  primary key (user_id, topic, thing_id)
) with (fillfactor = 50);
