-- One row, which each check of readiness writes: a server that can only read cannot work.
create table readiness_checks (
  id boolean primary key check (id),
  checked_at timestamptz not null default now()
);
