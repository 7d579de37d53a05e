-- Waiting generations with their position in the queue; position 0 is next. Users take turns: each running or waiting
-- generation of a user moves that user's next one back by one turn. Within a turn, the user who was served least
-- recently is first.
drop view if exists generation_queue;
create view generation_queue as
select id, user_id, queue, turn,
  row_number() over (partition by queue order by turn, served_at nulls first, id) - 1 as position
from (
  select waiting.id, waiting.user_id, waiting.queue, generation_turns.served_at,
    row_number() over (partition by waiting.queue, waiting.user_id order by waiting.id) + running.count as turn
  from generations waiting
  cross join lateral (
    select count(*) from generations other
    where other.user_id = waiting.user_id and other.queue = waiting.queue
      and other.state in ('starting', 'running') and other.ended_at is null
  ) as running
  left join generation_turns using (user_id, queue)
  where waiting.state = 'queued' and waiting.ended_at is null
) as taken;
