-- Rows that a model writes from documents, looked through before they are saved in a dataset. What a draft can cost at most
-- is held while it runs, and it is charged for the answers that were kept.
create table drafts (
  id uuid primary key,
  user_id text not null references users (id),
  created_at timestamptz not null,
  -- From here on as it was started last; null before.
  settings jsonb,
  -- Micro-BGL for a million tokens, by the id of the price that each stands in for.
  prices jsonb not null default '{}',
  hold_id uuid,
  held_micro bigint not null default 0 check (held_micro >= 0),
  cost_micro bigint not null default 0 check (cost_micro >= 0),
  -- What was charged before it went on.
  charged_micro bigint not null default 0 check (charged_micro >= 0),
  chunks integer not null default 0,
  -- Answered or failed.
  chunks_done integer not null default 0,
  chunks_failed integer not null default 0,
  -- How many rows of its answers were not kept, by the reason.
  dropped jsonb not null default '{}',
  error text,
  started_at timestamptz,
  cancelled_at timestamptz,
  expires_at timestamptz,
  ended_at timestamptz,
  -- How it has ended.
  outcome text check (outcome in ('completed', 'cancelled', 'failed')),
  check_at timestamptz not null,
  lock_token uuid,
  locked_until timestamptz,
  constraint drafts_end_has_outcome check ((ended_at is null) = (outcome is null)),
  constraint drafts_end_was_started check (ended_at is null or started_at is not null)
);
create index drafts_due on drafts (check_at) where started_at is not null and ended_at is null;
create index drafts_of_user on drafts (user_id, created_at desc, id desc);

-- The text of a document; the file itself is not kept.
create table draft_documents (
  id uuid primary key,
  draft_id uuid not null references drafts (id) on delete cascade,
  name text not null,
  pages integer,
  empty_pages integer not null,
  characters integer not null,
  -- A list of {page, heading, text}.
  sections jsonb not null,
  -- In which order they were added.
  number bigint generated always as identity
);
create index draft_documents_of_draft on draft_documents (draft_id, number);

-- What the model reads at once.
create table draft_chunks (
  draft_id uuid not null references drafts (id) on delete cascade,
  number integer not null,
  document_id uuid not null references draft_documents (id) on delete cascade,
  -- The document, with the page or the heading.
  source text not null,
  content text not null,
  state text not null default 'open' check (state in ('open', 'answered', 'failed')),
  primary key (draft_id, number)
);
create index draft_chunks_of_document on draft_chunks (document_id);
create index draft_chunks_open on draft_chunks (draft_id, number) where state = 'open';

create table draft_rows (
  id uuid primary key default gen_random_uuid(),
  draft_id uuid not null,
  chunk integer not null,
  -- Within the answer to its chunk.
  position integer not null,
  question text not null,
  answer text not null,
  -- The dataset that it was saved in.
  saved_in uuid,
  unique (draft_id, chunk, position),
  foreign key (draft_id, chunk) references draft_chunks (draft_id, number) on delete cascade
);
