-- Pictures that were asked for: how far each is, and what it made.
create table generations (
  id uuid primary key default uuidv7(),
  user_id text not null references users (id),
  -- The API key that asked for it.
  key_id uuid,
  generator text not null,
  provider text not null,
  model text not null,
  -- What drew it.
  revision_id uuid,
  prompt text not null,
  parameters jsonb not null,
  seed bigint not null check (seed >= 0),
  -- Of prompt and parameters as they were asked for: the same call finds its picture again.
  request_sha256 text not null,
  state text not null default 'queued'
    check (state in ('queued', 'starting', 'running', 'completed', 'failed', 'cancelled')),
  reason text not null default '',
  step integer not null default 0,
  steps integer not null check (steps >= 1),
  -- Only while it is drawn.
  preview text check (length(preview) <= 200000),
  expert_weights jsonb,
  expert_used integer,
  routing_confidence double precision,
  hold_id uuid not null,
  held_micro bigint not null check (held_micro > 0),
  -- Null until it has ended.
  charged_micro bigint check (charged_micro between 0 and held_micro),
  -- How often it was begun.
  attempt integer not null default 0,
  check_at timestamptz not null,
  lock_token uuid,
  locked_until timestamptz,
  created_at timestamptz not null,
  started_at timestamptz,
  ended_at timestamptz,
  check ((state in ('completed', 'failed', 'cancelled')) = (ended_at is not null)),
  check ((ended_at is null) = (charged_micro is null))
);
create index generations_by_user on generations (user_id, id desc);
create index generations_by_turn on generations (user_id, started_at desc) where started_at is not null;
create index generations_by_request on generations (user_id, request_sha256, id desc);
create index generations_to_do on generations (user_id, id) where ended_at is null;

-- Who waits, and how many are drawn before: users take turns. Each picture that a user has in work or waiting puts the
-- next one a turn back; within a turn it is theirs who was served least lately.
create view generation_line as
select id, user_id, turn, row_number() over (order by turn, served_at nulls first, id) - 1 as position
from (
  select waiting.id, waiting.user_id, served.at as served_at,
    row_number() over (partition by waiting.user_id order by waiting.id) + drawn.count as turn
  from generations waiting
  cross join lateral (
    select count(*) from generations other
    where other.user_id = waiting.user_id and other.state in ('starting', 'running') and other.ended_at is null
  ) as drawn
  cross join lateral (
    select max(started_at) as at from generations other
    where other.user_id = waiting.user_id and other.started_at is not null
  ) as served
  where waiting.state = 'queued' and waiting.ended_at is null
) as taken;

create table generation_outputs (
  id uuid primary key default uuidv7(),
  generation_id uuid not null references generations (id) on delete cascade,
  user_id text not null references users (id),
  sha256 text not null references blobs (sha256),
  media_type text not null,
  size_bytes bigint not null check (size_bytes > 0),
  width integer not null check (width > 0),
  height integer not null check (height > 0)
);
create index generation_outputs_by_generation on generation_outputs (generation_id);
create index generation_outputs_by_blob on generation_outputs (sha256);

create function own_generation_outputs() returns trigger language plpgsql as $$
declare
  sha256s text[];
  kinds text[];
  ids text[];
  sizes bigint[];
begin
  -- Whoever changes what a user stores holds their row.
  insert into user_storage (user_id) select distinct user_id from changed order by 1 on conflict do nothing;
  perform from user_storage where user_id in (select user_id from changed) order by user_id for update;

  select array_agg(sha256), array_agg('user'::text), array_agg(user_id), array_agg(size_bytes)
  into sha256s, kinds, ids, sizes from changed;
  if tg_op = 'INSERT' then perform add_blob_owners(sha256s, kinds, ids, sizes);
  else perform remove_blob_owners(sha256s, kinds, ids);
  end if;
  return null;
end $$;

create trigger generation_outputs_owned after insert on generation_outputs
  referencing new table as changed for each statement execute function own_generation_outputs();
create trigger generation_outputs_disowned after delete on generation_outputs
  referencing old table as changed for each statement execute function own_generation_outputs();
