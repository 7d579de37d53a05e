-- When each user's turn in a line came last. It was read from the user's generations before, so that whoever deleted them
-- came first again.
create table drawing_turns (
  user_id text not null references users (id) on delete cascade,
  line text not null,
  served_at timestamptz not null,
  primary key (user_id, line)
);
insert into drawing_turns (user_id, line, served_at)
select user_id, line, max(started_at) from generations
where line is not null and started_at is not null
group by user_id, line;

drop view generation_line;
create view generation_line as
select id, user_id, line, turn,
  row_number() over (partition by line order by turn, served_at nulls first, id) - 1 as position
from (
  select waiting.id, waiting.user_id, waiting.line, drawing_turns.served_at,
    row_number() over (partition by waiting.line, waiting.user_id order by waiting.id) + drawn.count as turn
  from generations waiting
  cross join lateral (
    select count(*) from generations other
    where other.user_id = waiting.user_id and other.line = waiting.line
      and other.state in ('starting', 'running') and other.ended_at is null
  ) as drawn
  left join drawing_turns using (user_id, line)
  where waiting.state = 'queued' and waiting.ended_at is null
) as taken;
drop index generations_by_turn;
