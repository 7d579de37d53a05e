-- The web processes that pass requests on to model servers. Each writes its row every few seconds:
-- what one knows of a model server's caches holds only while it is the only one.
create table gateways (
  id uuid primary key,
  seen_at timestamptz not null default clock_timestamp()
);
