-- Blobs whose row is gone while their bytes are being deleted, which an object store may take its time for. Whoever stores
-- the same bytes waits; what is left by a process that died is deleted by whoever finds it.
create table blob_deletions (
  sha256 text primary key check (sha256 ~ '^[0-9a-f]{64}$'),
  begun_at timestamptz not null default now()
);
