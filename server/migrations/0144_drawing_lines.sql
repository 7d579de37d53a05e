-- What draws has so many places, and who waits for them stands in its line: a starter's, that of a deployment's own model
-- server, or that of the services together. A deployment that is cold or broken holds the places of nobody else.
alter table generations add column line text;
update generations set line = case
  when provider = 'upstream' then 'upstream'
  else coalesce(
    (select case when server.deployment_id is null then 'starter:' || server.starter_name
      else 'deployment:' || deployment.id end
    from deployments deployment join model_servers server on server.id = deployment.model_server_id
    where deployment.user_id = generations.user_id and deployment.model_name = generations.model
      and deployment.terminated_at is null),
    'starter:' || model)
end
where ended_at is null;
-- What had ended before stood in none.
alter table generations add check (ended_at is not null or line is not null);

drop index generations_by_turn;
create index generations_by_turn on generations (user_id, line, started_at desc) where started_at is not null;

drop view generation_line;
create view generation_line as
select id, user_id, line, turn,
  row_number() over (partition by line order by turn, served_at nulls first, id) - 1 as position
from (
  select waiting.id, waiting.user_id, waiting.line, served.at as served_at,
    row_number() over (partition by waiting.line, waiting.user_id order by waiting.id) + drawn.count as turn
  from generations waiting
  cross join lateral (
    select count(*) from generations other
    where other.user_id = waiting.user_id and other.line = waiting.line
      and other.state in ('starting', 'running') and other.ended_at is null
  ) as drawn
  cross join lateral (
    select max(started_at) as at from generations other
    where other.user_id = waiting.user_id and other.line = waiting.line and other.started_at is not null
  ) as served
  where waiting.state = 'queued' and waiting.ended_at is null
) as taken;
