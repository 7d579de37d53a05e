-- Calls per limit and caller, which all web processes count together. Counts may be lost in a crash.
create unlogged table rate_counts (
  bucket text primary key,
  calls integer not null,
  ends_at timestamptz not null
);
