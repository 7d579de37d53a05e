-- Answers of a model that background work requests for a user: an OpenAI batch, or a draft of rows from documents. The
-- maximum cost is held while it runs; received answers are charged at the end.
create table bulk_answers (
  id uuid primary key,
  kind text not null check (kind in ('batch', 'draft')),
  user_id text not null references users (id),
  -- The API key that started it, which ends it when it is revoked.
  key_id uuid,
  created_at timestamptz not null,
  -- Micro-BGL for a million tokens, by the id of the replaced price.
  prices jsonb not null default '{}',
  hold_id uuid,
  held_micro bigint not null default 0 check (held_micro >= 0),
  cost_micro bigint not null default 0 check (cost_micro >= 0),
  -- Charged before a draft was resumed.
  charged_micro bigint not null default 0 check (charged_micro >= 0),
  -- Requests, and their answers and errors.
  total integer not null default 0,
  completed integer not null default 0,
  failed integer not null default 0,
  error text,
  started_at timestamptz,
  cancelled_at timestamptz,
  expires_at timestamptz,
  ended_at timestamptz,
  outcome text check (outcome in ('completed', 'cancelled', 'expired', 'failed')),
  check_at timestamptz not null,
  lock_token uuid,
  locked_until timestamptz,
  -- Batches only.
  endpoint text,
  model text,
  input_asset_id uuid,
  metadata jsonb,
  begun_at timestamptz,
  output_asset_id uuid,
  error_asset_id uuid,
  -- Drafts only: the settings of the last start, and counts of rejected rows by reason.
  settings jsonb,
  dropped jsonb not null default '{}',
  constraint bulk_answers_end_has_outcome check ((ended_at is null) = (outcome is null)),
  constraint bulk_answers_end_was_started check (ended_at is null or started_at is not null),
  constraint bulk_answers_running_has_hold check (started_at is null or ended_at is not null
    or (hold_id is not null and held_micro > 0 and expires_at is not null)),
  constraint bulk_answers_batch_has_input check (kind <> 'batch'
    or (endpoint is not null and model is not null and input_asset_id is not null))
);

-- Leases are not copied: the next process continues immediately.
insert into bulk_answers (id, kind, user_id, key_id, created_at, prices, hold_id, held_micro, cost_micro, total,
  completed, failed, started_at, cancelled_at, expires_at, ended_at, outcome, check_at, endpoint, model,
  input_asset_id, metadata, begun_at, output_asset_id, error_asset_id)
select id, 'batch', user_id, key_id, created_at, prices, hold_id, held_micro, cost_micro, total, completed, failed,
  created_at, cancelled_at, expires_at, ended_at, outcome, check_at, endpoint, model, input_asset_id, metadata,
  begun_at, output_asset_id, error_asset_id
from batches;
insert into bulk_answers (id, kind, user_id, key_id, created_at, prices, hold_id, held_micro, cost_micro,
  charged_micro, total, completed, failed, error, started_at, cancelled_at, expires_at, ended_at, outcome, check_at,
  settings, dropped)
select id, 'draft', user_id, key_id, created_at, prices, hold_id, held_micro, cost_micro, charged_micro, chunks,
  chunks_done - chunks_failed, chunks_failed, error, started_at, cancelled_at, expires_at, ended_at, outcome, check_at,
  settings, dropped
from drafts;

alter table batch_lines drop constraint batch_lines_batch_id_fkey,
  add constraint batch_lines_batch_id_fkey foreign key (batch_id) references bulk_answers (id) on delete cascade;
alter table draft_documents drop constraint draft_documents_draft_id_fkey,
  add constraint draft_documents_draft_id_fkey foreign key (draft_id) references bulk_answers (id) on delete cascade;
alter table draft_chunks drop constraint draft_chunks_draft_id_fkey,
  add constraint draft_chunks_draft_id_fkey foreign key (draft_id) references bulk_answers (id) on delete cascade;
drop table batches;
drop table drafts;
create index bulk_answers_due on bulk_answers (check_at) where started_at is not null and ended_at is null;
create index bulk_answers_of_user on bulk_answers (user_id, created_at desc, id desc);
