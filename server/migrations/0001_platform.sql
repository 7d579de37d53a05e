-- What every module builds on: answers that can be repeated, the record of who did what, and the
-- list of stored bytes.

-- The answer of a call that spends, kept with the work in one transaction. The primary key makes
-- concurrent duplicates wait for the first.
create table idempotency_keys (
  user_id text not null,
  key text not null check (length(key) between 1 and 255),
  -- Name of the call; a key belongs to one operation.
  operation text not null,
  input_sha256 text not null,
  answer jsonb,
  created_at timestamptz not null default now(),
  primary key (user_id, key)
);
create index idempotency_keys_created_at on idempotency_keys (created_at);

create table audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  -- Who did it; null when it was the system itself.
  user_id text,
  -- Verb in the past, dotted: 'api_key.rotated'.
  action text not null,
  detail jsonb not null default '{}'
);
create index audit_log_user on audit_log (user_id, at desc);

-- Shared by every table whose rows are facts.
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;

create trigger audit_log_append_only before update or delete or truncate on audit_log
  for each statement execute function refuse_change();

-- What the blob store holds. A row that no other table refers to any more is deleted by a job, with
-- its bytes; `touched_at` keeps it alive between the moment its bytes are stored and the
-- transaction that refers to it.
create table blobs (
  sha256 text primary key check (sha256 ~ '^[0-9a-f]{64}$'),
  size_bytes bigint not null check (size_bytes >= 0),
  created_at timestamptz not null default now(),
  touched_at timestamptz not null default now()
);
create index blobs_touched_at on blobs (touched_at);
