-- What the last proof of the books found, right or not: a page shows it without proving them itself. One row.
create table ledger_last_proof (
  single boolean primary key default true check (single),
  -- The books are proven as they were then.
  proved_at timestamptz not null,
  report jsonb not null
);
