-- The names that the field uses: a generation waits in a queue, and its user's turn there is a generation's.
drop view generation_line;
alter table drawing_turns rename to generation_turns;
alter table generation_turns rename column line to queue;
alter table generation_turns rename constraint drawing_turns_pkey to generation_turns_pkey;
alter table generation_turns rename constraint drawing_turns_user_id_fkey to generation_turns_user_id_fkey;
alter table generations rename column line to queue;

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
