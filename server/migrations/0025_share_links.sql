-- Generations that their owner shares by a link, which is made of the id and its signature: without the server's secret no
-- row opens anything.
create table generation_shares (
  id uuid primary key default gen_random_uuid(),
  generation_id uuid not null unique references generations (id) on delete cascade,
  user_id text not null references users (id),
  created_at timestamptz(3) not null default now()
);
create index generation_shares_by_user on generation_shares (user_id);
