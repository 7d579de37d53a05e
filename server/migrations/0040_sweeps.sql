-- Fine-tunes that differ in one or two parameters, started together. Each run keeps its own values, and its own money.
create table sweeps (
  id uuid primary key default gen_random_uuid(),
  user_id text not null references users (id),
  title text not null,
  -- What its runs differ in.
  parameters text[] not null check (cardinality(parameters) between 1 and 2),
  created_at timestamptz not null
);
create index sweeps_by_user on sweeps (user_id);

alter table runs add column sweep_id uuid references sweeps (id) on delete set null;
create index runs_by_sweep on runs (sweep_id);
