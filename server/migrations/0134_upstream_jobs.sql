-- A job that was begun at a service: whoever goes on with the generation finds it again.
alter table generations add column upstream_job jsonb;
-- Models that take none.
alter table generations alter column seed drop not null;

-- Own models and services each have a line of their own: who waits for the one does not wait for the other.
drop view generation_line;
create view generation_line as
select id, user_id, provider, turn,
  row_number() over (partition by provider order by turn, served_at nulls first, id) - 1 as position
from (
  select waiting.id, waiting.user_id, waiting.provider, served.at as served_at,
    row_number() over (partition by waiting.provider, waiting.user_id order by waiting.id) + drawn.count as turn
  from generations waiting
  cross join lateral (
    select count(*) from generations other
    where other.user_id = waiting.user_id and other.provider = waiting.provider
      and other.state in ('starting', 'running') and other.ended_at is null
  ) as drawn
  cross join lateral (
    select max(started_at) as at from generations other
    where other.user_id = waiting.user_id and other.provider = waiting.provider and other.started_at is not null
  ) as served
  where waiting.state = 'queued' and waiting.ended_at is null
) as taken;
