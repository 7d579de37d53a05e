-- The places in a queue are counted in that queue alone, however many wait in others.
create index generations_waiting on generations (queue, user_id, id) where state = 'queued' and ended_at is null;
create index generations_running on generations (queue, user_id)
  where state in ('starting', 'running') and ended_at is null;
