-- When the bytes of a blob were last found to be what their name says, as they were when they came;
-- and since when they are known not to be.
alter table blobs
  add column checked_at timestamptz not null default now(),
  add column damaged_at timestamptz;
update blobs set checked_at = created_at;
create index blobs_checked_at on blobs (checked_at);
create index blobs_damaged on blobs (sha256) where damaged_at is not null;
