-- The schema, module by module. This file is never changed: a later step is a file of its own, 0002_<words>.sql. Functions,
-- triggers and views stand in functions/, which is applied again when it changes; the two functions here belong to
-- stored columns.

create extension if not exists btree_gin;
create extension if not exists pg_trgm;

create type preparation_id as enum ('serving', 'starter-language-model', 'training', 'vllm', 'starter-image-model');
create type preparation_state as enum ('waiting', 'running', 'ready', 'failed');

-- What is searched: each name in lower case on a line of its own, and a line's end on both sides, so that a whole name is
-- found as one, too. Immutable, unlike array_to_string by itself: texts are written the same in every session.
create function asset_search_text(id text, title text, family text, base_model_type text, tags text[])
returns text language sql immutable parallel safe as $$
  select lower(concat(chr(10), concat_ws(chr(10), title, id, nullif(family, ''), base_model_type,
    nullif(array_to_string(tags, chr(10)), '')), chr(10)))
$$;

create function spec_adapter_names(spec jsonb) returns text[] language sql immutable parallel safe as $$
  select coalesce(array_agg(adapter ->> 'name' order by position), '{}')
  from jsonb_array_elements(case jsonb_typeof(spec -> 'adapters') when 'array' then spec -> 'adapters' end)
    with ordinality as adapters (adapter, position)
$$;

-- == Platform ==

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

-- Who changed what.
create table audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  -- Who did it; null when it was the system itself.
  user_id text,
  -- Verb in the past, dotted: 'api_key.rotated'.
  action text not null,
  detail jsonb not null default '{}'
);
-- What an address has asked for within the hour, among all that its user ever did.
create index audit_log_by_action on audit_log (user_id, action, at);
-- The operators' list, narrowed to one noun, which may be rare.
create index audit_log_by_noun on audit_log (split_part(action, '.', 1), id desc);
-- Operators read the audit log backwards, as a whole or of one user; ids grow with time.
create index audit_log_by_user on audit_log (user_id, id desc);

-- What the blob store holds. A job deletes what has no owner, the row and its bytes; `touched_at` keeps it between the
-- moment its bytes are stored and the transaction that refers to it.
create table blobs (
  sha256 text primary key check (sha256 ~ '^[0-9a-f]{64}$'),
  size_bytes bigint not null check (size_bytes >= 0),
  created_at timestamptz not null default now(),
  touched_at timestamptz not null default now(),
  -- When the bytes were last found to be what their name says; and since when they are known not to be.
  checked_at timestamptz not null default now(),
  damaged_at timestamptz,
  -- Kept by triggers of blob_owners: the collector would otherwise look for an owner of every blob.
  unowned boolean not null default true
);
create index blobs_checked_at on blobs (checked_at);
create index blobs_damaged on blobs (sha256) where damaged_at is not null;
create index blobs_unowned on blobs (touched_at) where unowned;

-- Who keeps which bytes, in one table, whatever table names them.
create table blob_owners (
  sha256 text not null references blobs (sha256),
  -- 'user': files of their assets, in any revision, and pictures. 'starter': files of starter models, which are nobody's.
  -- 'workload': what it has stored.
  owner_kind text not null check (owner_kind in ('user', 'starter', 'workload')),
  -- Of the user or the workload; empty for starter models.
  owner_id text not null,
  size_bytes bigint not null check (size_bytes >= 0),
  -- How many files of this owner have these bytes.
  refs bigint not null check (refs >= 0),
  primary key (sha256, owner_kind, owner_id)
);

-- What has changed for whom within a day, each thing once: a stream of events that was cut goes on from there.
create table recent_changes (
  -- Empty: for everybody.
  user_id text not null,
  topic text not null,
  thing_id text not null,
  at timestamptz not null,
  primary key (user_id, topic, thing_id)
) with (fillfactor = 50);

-- How the attempts of each kind of job have ended, in all processes: for the metrics, which any of them may be asked for.
create table job_outcomes (
  job text primary key,
  failed bigint not null default 0,
  -- To some seconds.
  succeeded_at timestamptz
);

-- Mails that have not been handed to the mail server yet. Their jobs have the id alone, since done jobs are kept for a
-- while: a link that opens an account is gone once it is sent.
create table outgoing_mails (
  id uuid primary key,
  recipient text not null,
  subject text not null,
  body text not null,
  created_at timestamptz not null default now()
);

-- One row, which each check of readiness writes: a server that can only read cannot work.
create table readiness_checks (
  id boolean primary key check (id),
  checked_at timestamptz not null default now()
);

-- The machines of this installation, one for each data folder (its file `machine` says which).
create table machines (
  id uuid primary key,
  name text not null,
  host text not null,
  driver text not null,
  -- Its slots, and what keeps specs from starting there; null before its first beat.
  offer jsonb,
  -- It holds the bytes of all files; the others read and write them there.
  holds_blobs boolean not null,
  -- Over the server's secret: all machines have the same one.
  secret_check bytea not null,
  started_at timestamptz not null,
  -- The last beat of the server that runs its workloads.
  seen_at timestamptz
);
create unique index machines_blob_holder on machines (holds_blobs) where holds_blobs;

-- The server processes. Each writes its row every few seconds: where that fails, it takes in nothing
-- of what workloads and people say either.
create table processes (
  id uuid primary key,
  machine_id uuid not null references machines (id),
  roles text[] not null,
  -- When the beats began that have not been broken since.
  since timestamptz not null,
  seen_at timestamptz not null,
  -- It ended in good order.
  left_at timestamptz,
  -- Where workloads of other machines reach it, where it answers requests.
  url text
);

-- What each machine prepares in the background after its start: one row per step, for every process to read.
create table preparations (
  id preparation_id not null,
  state preparation_state not null,
  -- What it is doing now, in words; with 'failed', what happened and what to do.
  detail text not null,
  -- 0 to 1; null while unknown.
  progress real check (progress between 0 and 1),
  -- Names the files that a finished step registered, so that a restart need not read them again.
  fingerprint text,
  updated_at timestamptz not null,
  machine_id uuid references machines (id),
  constraint preparations_machine unique nulls not distinct (machine_id, id)
);

-- == Accounts ==

-- users, sessions, sign_in_methods and verifications are better-auth's tables under our names; a test compares them with
-- what the library expects.
create table users (
  id text primary key,
  name text not null check (length(name) between 1 and 200),
  username text not null unique check (username ~ '^[a-z0-9_-]{3,30}$'),
  email text not null unique check (email = lower(email)),
  email_verified boolean not null default false,
  image text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- When the account was deleted. A row without a name stays, because transfers name it forever.
  deleted_at timestamptz,
  -- When the last of what they had was gone.
  purged_at timestamptz,
  -- When the user has put the first steps away; they are counted all the same.
  onboarding_dismissed_at timestamptz,
  -- The mailbox had an account before this one: see known_addresses.
  is_returning boolean not null default false
);
create index users_by_creation on users (created_at, id);
-- Whom an operator looks for by a part of their name or address.
create index users_by_words on users using gin (username gin_trgm_ops, email gin_trgm_ops, lower(name) gin_trgm_ops)
  with (gin_pending_list_limit = 256);
create index users_to_purge on users (deleted_at) where deleted_at is not null and purged_at is null;

create table sessions (
  id text primary key,
  user_id text not null references users (id) on delete cascade,
  token text not null unique,
  expires_at timestamptz not null,
  ip_address text,
  user_agent text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index sessions_user_id on sessions (user_id);

create table sign_in_methods (
  id text primary key,
  user_id text not null references users (id) on delete cascade,
  provider_id text not null,
  account_id text not null,
  password text,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz,
  refresh_token_expires_at timestamptz,
  scope text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (provider_id, account_id)
);
create index sign_in_methods_user_id on sign_in_methods (user_id);

create table verifications (
  id text primary key,
  identifier text not null,
  value text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index verifications_identifier on verifications (identifier);

-- A user has many keys, each with what it may do, until when, and how much it may spend. The web app's is written in the
-- transaction that also does everything else a new user needs, so its presence says that the user is complete.
create table api_keys (
  user_id text not null references users (id) on delete cascade,
  sha256 bytea not null unique,
  -- AES-256-GCM: nonce, ciphertext, tag. Only of the web app's key, which it shows to its owner.
  encrypted bytea,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  id uuid primary key default uuidv7(),
  name text not null check (length(name) between 1 and 100),
  scopes text[] not null default '{everything}'
    check (cardinality(scopes) > 0 and scopes <@ '{everything,inference,read}'),
  -- The key that the web app shows and sends; each user has one.
  for_web_app boolean not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  -- The secret before the last rotation, as long as it still opens.
  previous_sha256 bytea unique,
  previous_until timestamptz,
  -- What it may spend per day, per month (in UTC) or in all; null: as much as its owner has.
  budget_micro bigint check (budget_micro > 0),
  budget_period text check (budget_period in ('day', 'month', 'total')),
  -- What was charged by holds of this key since `counted_since`, and what its open holds promise.
  spent_micro bigint not null default 0 check (spent_micro >= 0),
  held_micro bigint not null default 0 check (held_micro >= 0),
  counted_since timestamptz not null default now(),
  constraint api_keys_budget_has_period check ((budget_micro is null) = (budget_period is null)),
  constraint api_keys_only_the_web_apps_is_shown check (for_web_app = (encrypted is not null)),
  constraint api_keys_previous_has_end check ((previous_sha256 is null) = (previous_until is null)),
  constraint api_keys_web_app_is_unlimited
    check (not for_web_app or num_nonnulls(expires_at, revoked_at, budget_micro) = 0)
);
create index api_keys_by_user on api_keys (user_id, id);
create unique index api_keys_for_web_app on api_keys (user_id) where for_web_app;

create table onboarding_steps (
  user_id text not null references users (id) on delete cascade,
  step text not null check (step in ('create_dataset', 'create_model', 'fine_tune_model')),
  completed_at timestamptz not null default now(),
  primary key (user_id, step)
);

-- Which mailboxes have had an account here, so that a new account with one of them is not given again what newcomers are
-- given. Only a keyed hash is kept, also of those whose account was deleted.
create table known_addresses (
  mailbox_hash bytea primary key,
  first_seen_at timestamptz not null default now()
);

-- The sum of the user's `blob_owners.size_bytes`: what several files have counts once.
-- Whoever changes what a user stores holds this row.
create table user_storage (
  user_id text primary key references users (id) on delete cascade,
  bytes bigint not null default 0 check (bytes >= 0)
);

-- == Notifications and messages ==

-- What a user is told of: how long work ended, credits that came or are nearly gone, access, keys.
create table notifications (
  id uuid primary key default uuidv7(),
  user_id text not null references users (id) on delete cascade,
  -- Its sentence and its link are made of both when it is read.
  kind text not null,
  data jsonb not null check (jsonb_typeof(data) = 'object'),
  created_at timestamptz not null default now(),
  read_at timestamptz
);
-- What is older than it is kept is found without reading what stays.
create index notifications_by_time on notifications (created_at);
create index notifications_by_user on notifications (user_id, id desc);
-- What is unread is counted on every change that the bell hears of, and before a notification of a kind that is capped.
-- The sender is that of received credits.
create index notifications_unread on notifications (user_id, kind, (data ->> 'sender')) where read_at is null;

-- Users who had more than the limit below which credit is nearly gone, and were not told since that it is.
create table low_balance_watch (
  user_id text primary key references users (id) on delete cascade
);

-- How far the ledger has been looked at for balances that are low, and by which limit: each minute only what has moved since
-- is looked at.
create table low_balance_look (
  single boolean primary key default true check (single),
  limit_micro bigint not null,
  seq bigint not null
);

-- What users have written to the operators.
create table contact_messages (
  id uuid primary key default uuidv7(),
  user_id text not null references users (id) on delete cascade,
  subject text not null check (length(subject) between 1 and 200),
  message text not null check (length(message) between 1 and 5000),
  status text not null default 'new' check (status in ('new', 'read', 'answered')),
  created_at timestamptz not null default now()
);
create index contact_messages_by_status on contact_messages (status, id desc);
create index contact_messages_by_user on contact_messages (user_id);

-- == Credits ==

-- The ledger: accounts, transfers, holds and the seals that chain the transfers. See docs/ledger.md. Amounts are whole
-- micro-BGL. One row of ledger_transfers is both sides of a double entry, so the sum over all accounts is zero by
-- construction.
create table ledger_accounts (
  id text primary key,
  kind text not null constraint ledger_accounts_kind_known
    check (kind in ('user', 'grants', 'payments', 'revenue', 'receivable', 'losses')),
  owner_user_id text references users (id),
  -- Running totals exist where a limit must be kept: on users' accounts. A system account has no
  -- limit; its balance is the sum of its transfers, so that no two payers wait for each other.
  credits_posted bigint constraint ledger_accounts_credits_posted_not_negative check (credits_posted >= 0),
  debits_posted bigint constraint ledger_accounts_debits_posted_not_negative check (debits_posted >= 0),
  debits_pending bigint constraint ledger_accounts_debits_pending_not_negative check (debits_pending >= 0),
  created_at timestamptz not null default now(),
  -- How much of the balance was given. The rest was bought, or sent by others.
  given bigint,
  constraint ledger_accounts_available_not_negative check (credits_posted - debits_posted - debits_pending >= 0),
  constraint ledger_accounts_given_within_balance check (given between 0 and credits_posted - debits_posted),
  -- A receivable is what its user owes the house. Like a system account it has no limit and no totals.
  constraint ledger_accounts_named_after_owner
    check (
      (kind in ('user', 'receivable')) = (owner_user_id is not null) and id = coalesce(kind || ':' || owner_user_id, id)),
  constraint ledger_accounts_user_has_totals
    check (num_nonnulls(credits_posted, debits_posted, debits_pending, given) = case kind when 'user' then 4 else 0 end)
);
create index ledger_accounts_by_owner on ledger_accounts (owner_user_id);
-- Each minute looks for those who owe something: they are few among many accounts.
create index ledger_accounts_receivable on ledger_accounts (owner_user_id) where kind = 'receivable';

insert into ledger_accounts (id, kind) values
  ('grants', 'grants'),
  ('payments', 'payments'),
  ('losses', 'losses'),
  ('revenue:fine_tuning', 'revenue'),
  ('revenue:llm_inference', 'revenue'),
  ('revenue:deployment', 'revenue'),
  ('revenue:image_generation', 'revenue'),
  ('revenue:video_generation', 'revenue');

-- A promise of a later transfer: the amount is taken out of what the debit account can spend until
-- the hold is settled (with any amount up to it), released, or expires.
create table ledger_holds (
  id uuid primary key default uuidv7(),
  debit_account_id text not null references ledger_accounts (id),
  credit_account_id text not null references ledger_accounts (id),
  amount bigint not null constraint ledger_holds_amount_positive check (amount > 0),
  -- What was asked for before any extension: a repeated request is compared with this.
  amount_asked bigint not null,
  -- Kind of the transfer that a settlement makes.
  kind text not null constraint ledger_holds_kind_known
    check (kind in ('grant', 'purchase', 'transfer', 'charge', 'refund')),
  description text not null,
  refs jsonb not null constraint ledger_holds_refs_object check (jsonb_typeof(refs) = 'object'),
  idempotency_key text not null unique,
  status text not null default 'pending' constraint ledger_holds_status_known
    check (status in ('pending', 'settled', 'released')),
  settled_amount bigint,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  constraint ledger_holds_accounts_differ check (debit_account_id <> credit_account_id),
  constraint ledger_holds_end_has_time check ((status = 'pending') = (ended_at is null)),
  constraint ledger_holds_settled_has_amount check ((status = 'settled') = (settled_amount is not null)),
  constraint ledger_holds_settled_within_amount check (settled_amount between 1 and amount)
);
create index ledger_holds_pending_by_account on ledger_holds (debit_account_id) where status = 'pending';
create index ledger_holds_pending_by_expiry on ledger_holds (expires_at) where status = 'pending';

create table ledger_transfers (
  seq bigint generated always as identity primary key,
  id uuid not null default uuidv7() unique,
  debit_account_id text not null references ledger_accounts (id),
  credit_account_id text not null references ledger_accounts (id),
  amount bigint not null constraint ledger_transfers_amount_positive check (amount > 0),
  kind text not null constraint ledger_transfers_kind_known
    check (kind in ('grant', 'purchase', 'transfer', 'charge', 'refund', 'expiry', 'chargeback')),
  description text not null,
  -- What the transfer is about, by name: asset_name, run_id, pod_id, dataset_id, ... All values are text.
  refs jsonb not null constraint ledger_transfers_refs_object check (jsonb_typeof(refs) = 'object'),
  -- Unique: a hold is settled at most once.
  hold_id uuid unique references ledger_holds (id),
  idempotency_key text unique,
  created_at timestamptz not null default now(),
  -- How much of it is given credits, on the side of its one user. Between users it is zero.
  given bigint not null default 0,
  constraint ledger_transfers_accounts_differ check (debit_account_id <> credit_account_id),
  constraint ledger_transfers_given_not_sent
    check (given = 0 or not (debit_account_id like 'user:%' and credit_account_id like 'user:%')),
  constraint ledger_transfers_given_within_amount check (given between 0 and amount)
);
create index ledger_transfers_by_credit on ledger_transfers (credit_account_id, created_at, seq);
create index ledger_transfers_by_debit on ledger_transfers (debit_account_id, created_at, seq);
-- What one API key asked for, without reading whatever else its user paid.
create index ledger_transfers_by_key on ledger_transfers (debit_account_id, (refs ->> 'key_id'), created_at, seq)
  where refs ->> 'key_id' is not null;
create index ledger_transfers_refunds on ledger_transfers (credit_account_id, created_at, seq) where kind = 'refund';
-- The operators' list of changes takes up what users send each other: among many charges it is rare.
create index ledger_transfers_sent on ledger_transfers (seq) where kind = 'transfer';
-- What somebody has sent within a day is asked before each send, under the locks of both accounts.
create index ledger_transfers_sent_by on ledger_transfers (debit_account_id, created_at, seq) where kind = 'transfer';

-- The portions in which given credits came; each has its end. Whoever changes one holds its account's lock.
create table ledger_given (
  id uuid primary key default uuidv7(),
  account_id text not null references ledger_accounts (id),
  -- What brought it; null in a database from before portions were counted.
  transfer_id uuid unique references ledger_transfers (id),
  amount bigint not null constraint ledger_given_amount_positive check (amount > 0),
  remaining bigint not null,
  expires_at timestamptz not null default 'infinity',
  constraint ledger_given_remaining_within_amount check (remaining between 0 and amount)
);
create index ledger_given_by_account on ledger_given (account_id);
create index ledger_given_by_expiry on ledger_given (expires_at) where remaining > 0;

-- The hash chain stands beside the transfers, so that a transfer is never touched again.
create table ledger_seals (
  seq bigint primary key references ledger_transfers (seq),
  hash text not null constraint ledger_seals_hash_sha256 check (hash ~ '^[0-9a-f]{64}$'),
  sealed_at timestamptz not null default now()
);

-- Per account what it paid and received in sealed transfers. The sealer adds to them in the transaction
-- of the seals, one batch after the other, so that no two payers wait for each other. What the transfers
-- after the newest seal moved comes on top.
create table ledger_sealed_totals (
  account_id text not null references ledger_accounts (id),
  -- Id of the system account on the other side; 'users' for all users together.
  counterpart text not null,
  paid bigint not null,
  received bigint not null,
  transfers bigint not null,
  primary key (account_id, counterpart)
)
-- Every batch of seals changes many of these rows: with room in each page the new version lies beside the old one.
with (fillfactor = 40);

-- What each account paid and received on each day (UTC) in sealed transfers, by counterpart: the sealer adds to it with
-- ledger_sealed_totals, so that a sum over months reads days and not transfers.
create table ledger_daily (
  account_id text not null references ledger_accounts (id),
  day date not null,
  -- As in ledger_sealed_totals.
  counterpart text not null,
  paid bigint not null,
  received bigint not null,
  transfers bigint not null,
  primary key (account_id, day, counterpart)
);

-- What was paid with each API key, and what came back of it, in sealed transfers, by counterpart: in all, and on each day
-- (UTC). The sealer adds to both with ledger_sealed_totals and ledger_daily, so that the sums of a key read days and not
-- transfers.
create table ledger_key_totals (
  account_id text not null references ledger_accounts (id),
  -- refs ->> 'key_id' of the transfers.
  key_id text not null,
  -- As in ledger_sealed_totals.
  counterpart text not null,
  paid bigint not null,
  received bigint not null,
  transfers bigint not null,
  primary key (account_id, key_id, counterpart)
);

create table ledger_key_daily (
  account_id text not null references ledger_accounts (id),
  key_id text not null,
  day date not null,
  counterpart text not null,
  paid bigint not null,
  received bigint not null,
  transfers bigint not null,
  primary key (account_id, key_id, day, counterpart)
);

-- Up to which seal the books were proven, and what the sums were then: the next proof continues there.
create table ledger_verifications (
  id bigint generated always as identity primary key,
  seq bigint not null references ledger_seals (seq),
  hash text not null,
  -- Of ledger_sealed_totals when the seal was the newest.
  totals_digest text not null,
  verified_at timestamptz not null default now()
);
create index ledger_verifications_by_seal on ledger_verifications (seq);

-- What the last proof of the books found, right or not: a page shows it without proving them itself. One row.
create table ledger_last_proof (
  single boolean primary key default true check (single),
  -- The books are proven as they were then.
  proved_at timestamptz not null,
  report jsonb not null
);

-- Usage windows: what costs little and comes often (chat answers) is counted in a window, which stands on one hold and
-- closes with one transfer. See docs/ledger.md.

-- The processes that lead windows. One whose lease is over leads no more: its windows are closed by others.
create table usage_leaders (
  id uuid primary key,
  lease_until timestamptz not null
);

create table usage_windows (
  id uuid primary key,
  user_id text not null references users (id),
  -- The API key of the calls; null: a browser's session.
  key_id uuid,
  -- What is used.
  source text not null,
  leader_id uuid not null,
  hold_id uuid not null unique references ledger_holds (id),
  -- Of the events that were written: how many, what they cost, what they used, and the digest over them.
  events bigint not null default 0 check (events >= 0),
  used_micro bigint not null default 0 check (used_micro >= 0),
  quantities jsonb not null default '{}',
  digest bytea not null default '\x',
  opened_at timestamptz not null,
  closed_at timestamptz
);
create index usage_windows_by_user on usage_windows (user_id, opened_at, id);
create index usage_windows_open on usage_windows (leader_id) where closed_at is null;

-- What was used, one row per answer, in the order in which the leader settled them. Days go as a whole; each
-- has its partition when it is first written to.
create table usage_events (
  day date not null,
  window_id uuid not null,
  n bigint not null,
  id uuid not null,
  at timestamptz not null,
  amount_micro bigint not null check (amount_micro >= 0),
  quantities jsonb not null check (jsonb_typeof(quantities) = 'object'),
  primary key (window_id, n, day)
) partition by range (day);

-- What operators have made of the default prices. A price is that of the latest moment which has come, else the
-- default. Rows stay: they are its history.
create table price_changes (
  id uuid primary key default uuidv7(),
  price_id text not null,
  unit_price_micro bigint not null constraint price_changes_unit_price_positive check (unit_price_micro > 0),
  -- What it was when this was decided.
  previous_micro bigint not null constraint price_changes_previous_positive check (previous_micro > 0),
  valid_from timestamptz not null,
  changed_by text not null references users (id),
  created_at timestamptz not null,
  -- Another change was made before its moment came.
  withdrawn_at timestamptz,
  constraint price_changes_withdrawn_before check (withdrawn_at is null or withdrawn_at < valid_from)
);
create index price_changes_by_user on price_changes (changed_by);
create index price_changes_in_force on price_changes (price_id, valid_from desc, id desc) where withdrawn_at is null;

-- What users buy through a payment provider. The provider knows whether it was paid, refunded or disputed; a row says how
-- much of that the ledger has already been told.
create table purchases (
  id uuid primary key default uuidv7(),
  user_id text not null references users (id),
  usd_cents integer not null constraint purchases_usd_cents_positive check (usd_cents > 0),
  amount_micro bigint not null constraint purchases_amount_positive check (amount_micro > 0),
  -- The provider's page where it is paid, and the payment that came of it.
  session_id text unique,
  payment_id text unique,
  status text not null default 'open' constraint purchases_status_known
    -- 'refused': it fits no purchase, or no account any more, and a person looks at it.
    check (status in ('open', 'paid', 'failed', 'expired', 'refused')),
  -- Of what was paid: what a refund or a dispute reversed.
  reversed_cents integer not null default 0,
  receipt_url text,
  -- Grows with each change, so that what was seen before another change is not applied after it.
  version integer not null default 0,
  created_at timestamptz not null default now(),
  paid_at timestamptz,
  -- When the job last asked the provider about it: what was not asked about for longest comes first, so that none that
  -- cannot be answered keeps others waiting.
  checked_at timestamptz,
  constraint purchases_reversed_within check (reversed_cents between 0 and usd_cents)
);
create index purchases_by_user on purchases (user_id, id);
create index purchases_open on purchases (created_at) where status = 'open';
create index purchases_paid on purchases (paid_at) where status = 'paid';

-- Codes that operators hand out: whoever redeems one gets its credits. Of a code only the hash is kept.
create table credit_codes (
  id uuid primary key default uuidv7(),
  sha256 bytea not null unique,
  -- Its last characters, by which people tell codes apart.
  hint text not null,
  amount_micro bigint not null constraint credit_codes_amount_positive check (amount_micro > 0),
  redemptions integer not null default 0,
  redemptions_max integer not null constraint credit_codes_redemptions_max_positive check (redemptions_max > 0),
  note text not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  created_by text not null references users (id),
  created_at timestamptz not null default now(),
  constraint credit_codes_redemptions_within check (redemptions between 0 and redemptions_max)
);
create index credit_codes_by_creator on credit_codes (created_by);

-- Each user redeems a code once.
create table credit_code_redemptions (
  code_id uuid not null references credit_codes (id),
  user_id text not null references users (id),
  redeemed_at timestamptz not null default now(),
  primary key (code_id, user_id)
);
create index credit_code_redemptions_by_user on credit_code_redemptions (user_id);
create index credit_code_redemptions_latest on credit_code_redemptions (code_id, redeemed_at desc);

-- == Referrals ==

-- The code under which a user invites others; made when it is first asked for.
create table referral_codes (
  user_id text primary key references users (id) on delete cascade,
  code text not null unique check (code ~ '^[a-z0-9]{8}$'),
  created_at timestamptz not null default now()
);

-- Who came by whose code: at most once.
create table referrals (
  invited_user_id text primary key references users (id) on delete cascade,
  inviter_user_id text not null references users (id) on delete cascade,
  -- What each of the two was given.
  bonus_micro bigint not null check (bonus_micro >= 0),
  created_at timestamptz not null,
  constraint referrals_check check (invited_user_id <> inviter_user_id)
);
create index referrals_by_inviter on referrals (inviter_user_id, created_at desc);

-- The account on X that a user has connected, with the tokens that post for it: encrypted, since they open it.
create table x_accounts (
  user_id text primary key references users (id) on delete cascade,
  x_user_id text not null,
  username text not null,
  access_token bytea not null,
  refresh_token bytea not null,
  expires_at timestamptz not null,
  connected_at timestamptz not null
);

-- The one post by which a user invites others on X. Without an id it is being made, since `claimed_at`.
create table x_posts (
  user_id text primary key references users (id) on delete cascade,
  claimed_at timestamptz not null,
  post_id text check (post_id ~ '^[0-9]+$')
);

-- == Datasets and models ==

create table assets (
  id uuid primary key default gen_random_uuid(),
  -- Null: a starter model, which everybody may read and nobody may change.
  owner_user_id text references users (id) on delete cascade,
  is_starter boolean not null default false,
  -- Names a starter model across starts.
  starter_slug text unique,
  dataset_type text not null check (dataset_type in ('RAW', 'MODEL', 'VECTOR')),
  title text not null,
  category text not null,
  details text not null,
  tags text[] not null default '{}',
  price_micro bigint not null default 0 check (price_micro >= 0),
  embedding_model text not null default '',
  dimensions integer not null default 0 check (dimensions >= 0),
  is_published boolean not null default false,
  base_model_type text,
  parent_asset_id uuid references assets (id) on delete set null,
  -- The newest revision; null before the first file. Kept here with the numbers that lists show.
  revision_id uuid,
  file_count integer not null default 0,
  size_bytes bigint not null default 0,
  -- Milliseconds, so that a cursor in JavaScript is exact.
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  -- A deleted asset is gone for everybody at once; its rows follow in pieces.
  deleted_at timestamptz,
  -- The kind of model that it is or was made from, as people say it: 'llama', 'qwen'; empty where nobody said.
  family text not null default '',
  search_text text not null
    generated always as (asset_search_text(null, title, family, base_model_type, tags)) stored,
  -- What a starter model makes.
  starter_task text check (starter_task in ('text', 'image')),
  -- Which models are LoRAs is noted when their files change: their list would otherwise look into the files of all models.
  is_lora boolean not null default false,
  constraint assets_check check (is_starter = (owner_user_id is null)),
  constraint assets_check1 check (is_starter = (starter_slug is not null)),
  constraint assets_starter_task_check1 check ((starter_slug is null) = (starter_task is null))
);
-- The orders of lists, with the id that makes each one total.
create index assets_by_creation on assets (owner_user_id, created_at, id) where deleted_at is null;
-- Whoever types a whole name gets what is called just that first. Trigrams cannot tell it from the names that it is a
-- part of, and would have each of them looked at.
create index assets_by_name on assets using gin (owner_user_id, string_to_array(search_text, chr(10)));
create index assets_by_size on assets (owner_user_id, dataset_type, size_bytes, id);
-- A list that is narrowed to a tag which few assets have: without it all of their owner's are read.
create index assets_by_tag on assets using gin (owner_user_id, tags) with (gin_pending_list_limit = 256);
create index assets_by_title on assets (owner_user_id, dataset_type, lower(title), id);
create index assets_by_update on assets (owner_user_id, dataset_type, updated_at, id);
-- What is typed into a search lies anywhere in a name: trigrams find it without looking at every row of its owner. Ids are
-- searched in a column of their own, as trigrams of random ids are in the way of those of names. What waits to be
-- sorted in is read by every search: little may wait.
create index assets_by_words on assets using gin (owner_user_id, search_text gin_trgm_ops, (id::text) gin_trgm_ops)
  with (gin_pending_list_limit = 256);
create index assets_deleted on assets (deleted_at) where deleted_at is not null;
create index assets_loras on assets (owner_user_id, created_at, id) where is_lora and deleted_at is null;
create index assets_parent on assets (parent_asset_id);
-- Deleting a revision asks whether an asset names it.
create index assets_revision on assets (revision_id);

create table revisions (
  id uuid primary key default gen_random_uuid(),
  asset_id uuid not null references assets (id) on delete cascade,
  -- Counts from 1 within the asset.
  number integer not null check (number > 0),
  created_at timestamptz(3) not null default now(),
  unique (asset_id, number)
);
alter table assets add foreign key (revision_id) references revisions (id) deferrable initially deferred;

-- The files of all revisions: each row is in the revisions first_number to last_number, null
-- meaning that the newest still has it. So a revision costs as many rows as files changed in it,
-- and what a revision lists never changes.
create table asset_files (
  asset_id uuid not null references assets (id) on delete cascade,
  path text collate "C" not null,
  first_number integer not null check (first_number > 0),
  last_number integer,
  sha256 text not null references blobs (sha256),
  size_bytes bigint not null check (size_bytes >= 0),
  uploaded_at timestamptz(3) not null default now(),
  primary key (asset_id, path, first_number),
  constraint asset_files_check check (last_number >= first_number)
);
create unique index asset_files_newest on asset_files (asset_id, path) where last_number is null;
create index asset_files_sha256 on asset_files (sha256);

-- What a model was made from. Titles are kept, since the sources may be deleted.
create table asset_lineage (
  asset_id uuid primary key references assets (id) on delete cascade,
  run_id uuid not null,
  base_asset_id uuid not null,
  base_revision_id uuid not null,
  base_title text not null,
  dataset_asset_id uuid not null,
  dataset_revision_id uuid not null,
  dataset_title text not null,
  created_at timestamptz not null default now()
);
create index asset_lineage_base on asset_lineage (base_asset_id);
create index asset_lineage_dataset on asset_lineage (dataset_asset_id);

-- What the columns of data files hold, which takes seconds to find out and never changes with the bytes. It quotes the
-- file, and goes with its bytes.
create table column_statistics (
  sha256 text not null,
  -- By which the bytes are read.
  ending text not null,
  statistics jsonb not null,
  primary key (sha256, ending)
);

-- Models whose use an operator grants to each person who asks for it.
create table restricted_models (
  -- As people know it, with slashes: 'meta-llama/Llama-3.1-70B'.
  id text primary key,
  name text not null,
  family text not null,
  tags text[] not null,
  details text not null,
  -- The model of an operator that has its files; null: they are not here yet. Who was granted access may read and use it.
  asset_id uuid references assets (id) on delete set null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  search_text text not null generated always as (asset_search_text(id, name, family, null, tags)) stored
);
create index restricted_models_asset on restricted_models (asset_id);

-- One for each person and model; who was refused may ask again.
create table access_requests (
  id uuid primary key default gen_random_uuid(),
  restricted_model_id text not null references restricted_models (id) on delete cascade,
  user_id text not null references users (id) on delete cascade,
  message text not null,
  state text not null default 'requested' check (state in ('requested', 'granted', 'refused')),
  requested_at timestamptz(3) not null default now(),
  decided_at timestamptz(3),
  decided_by text references users (id) on delete set null,
  unique (restricted_model_id, user_id)
);
create index access_requests_decided_by on access_requests (decided_by);
create index access_requests_newest on access_requests (requested_at, id);
create index access_requests_user on access_requests (user_id);
create index access_requests_waiting on access_requests (state, requested_at, id);

-- Which version of a licence of models a user has accepted, and when. Rows stay as they are, and go with the account.
create table licence_acceptances (
  user_id text not null references users (id),
  licence text not null,
  version text not null,
  accepted_at timestamptz not null,
  primary key (user_id, licence, version)
);

-- == Engine ==

-- What runs on machines, and how far it is.
create table workloads (
  id uuid primary key default gen_random_uuid(),
  -- Whose turn it takes in the queue. Null: it serves everybody.
  user_id text references users (id),
  behaviour text not null check (behaviour in ('run', 'deployment')),
  -- Which module answers for it.
  kind text not null,
  title text not null,
  -- What the runtime is told, without what is only known at start. Never changes.
  spec jsonb not null,
  -- Slots that it takes: GPUs of one type, or one CPU slot where accelerator is null.
  accelerator text,
  accelerator_count integer not null check (accelerator_count between 0 and 8),
  -- How long it is expected to work; for the estimate of those who wait behind it.
  expected_seconds double precision,
  wanted text not null default 'running' check (wanted in ('running', 'stopped')),
  state text not null default 'queued' check (state in (
    'queued', 'scheduling', 'pulling', 'starting', 'ready', 'degraded', 'stopping', 'completed', 'stopped', 'failed')),
  reason text not null default '',
  -- Which GPUs it holds; empty on the CPU, null while it holds no slot.
  devices integer[],
  -- Every start is an attempt of its own, with its own token.
  attempt integer not null default 0,
  token_sha256 bytea,
  -- The server itself stopped this attempt, to go on later.
  interrupted boolean not null default false,
  -- Starts after an interruption; and those in a row that came no further.
  restarts integer not null default 0,
  failures integer not null default 0,
  -- From its reports.
  accepted_seq integer not null default 0,
  phase text,
  done double precision,
  total double precision,
  unit text check (unit in ('steps', 'bytes', 'examples')),
  remaining_seconds double precision,
  step integer not null default 0,
  steps_total integer not null default 0,
  base_url text,
  -- Its last word in this attempt: a report of type result, failed or stopped.
  outcome jsonb,
  -- Seconds of work, counted from report to report; and those that a checkpoint has saved.
  active_seconds double precision not null default 0,
  saved_seconds double precision not null default 0,
  -- Whoever holds the token may change the row until the lease ends.
  lock_token uuid,
  locked_until timestamptz,
  -- When it has to be looked at again.
  check_at timestamptz not null,
  created_at timestamptz not null,
  queued_at timestamptz not null,
  -- Not before this time: the pause after a failure.
  not_before timestamptz not null,
  attempt_started_at timestamptz,
  -- The first start of all attempts; the last time that one became ready.
  started_at timestamptz,
  ready_at timestamptz,
  last_report_at timestamptz,
  stop_requested_at timestamptz,
  stop_reason text,
  ended_at timestamptz,
  files_removed_at timestamptz,
  -- What a model server wants to be shown with each request; a new one for each attempt. Null: never started.
  server_key text,
  -- Where it was started last, and its files are. Null: nowhere.
  machine_id uuid references machines (id),
  -- How far its output has been copied into its log, in its driver's own terms.
  output_cursor text,
  -- Of the seconds of work that were counted, what the checkpoint on the server has saved.
  checkpoint_seconds double precision not null default 0,
  -- The machine that it was taken from, where its files may still be, and what was saved there. Null once
  -- it has a machine again.
  lost_machine_id uuid references machines (id),
  lost_seconds double precision,
  -- Whether the time of its phase is part of its work.
  phase_counted boolean not null default true,
  -- How long it may finish what it has begun once it is to stop, where that is longer than usual.
  drain_seconds integer not null default 0,
  -- Where the present attempt reports to, and why the engine has killed it.
  server_url text,
  killed_for text constraint workloads_killed_for_known
    check (killed_for in ('lingering', 'silent', 'loading', 'unreachable', 'overdue')),
  -- What is asked of a spec again and again, beside it: specs may be megabytes, and each look would read them whole.
  spec_kind text generated always as (spec ->> 'kind') stored,
  spec_engine text generated always as (spec ->> 'engine') stored,
  adapter_names text[] not null generated always as (spec_adapter_names(spec)) stored,
  -- Nobody is left who would resume it: its files go as soon as it has ended, and what it has printed goes with them.
  owner_gone boolean not null default false,
  constraint workloads_check check ((ended_at is not null) = (state in ('completed', 'stopped', 'failed'))),
  constraint workloads_check1 check ((accelerator is null) = (accelerator_count = 0)),
  constraint workloads_check2 check ((wanted = 'stopped') = (stop_requested_at is not null))
);
create index workloads_completed_with_files on workloads (id) where state = 'completed' and files_removed_at is null;
-- All that is asked every second says 'ended_at is null' or looks for files: what has ended costs nothing.
create index workloads_due on workloads (check_at) where ended_at is null;
create index workloads_owner_gone_with_files on workloads (id)
  where owner_gone and ended_at is not null and files_removed_at is null;
create index workloads_owner_not_gone on workloads (user_id) where not owner_gone;
-- Those of model servers: their files go after a day, and the rows once nobody asks for their logs.
create index workloads_servers_ended on workloads (ended_at)
  where behaviour = 'deployment' and files_removed_at is not null;
create index workloads_servers_with_files on workloads (ended_at)
  where behaviour = 'deployment' and ended_at is not null and files_removed_at is null;
create index workloads_with_files on workloads (ended_at) where ended_at is not null and files_removed_at is null;

-- One point of the curves per step; a step that is done again after a restart replaces it.
create table workload_metrics (
  workload_id uuid not null references workloads (id) on delete cascade,
  step integer not null,
  at timestamptz not null,
  values jsonb not null,
  primary key (workload_id, step)
);

-- The end of the log: older lines leave as new ones come.
create table workload_logs (
  workload_id uuid not null references workloads (id) on delete cascade,
  id bigint not null generated always as identity,
  at timestamptz not null,
  line text not null,
  primary key (workload_id, id)
);

-- What a workload has stored and its result may name. Rows go with the workload's files.
create table workload_artefacts (
  workload_id uuid not null references workloads (id) on delete cascade,
  path text not null,
  sha256 text not null references blobs (sha256),
  size_bytes bigint not null,
  stored_at timestamptz not null,
  primary key (workload_id, path)
);
create index workload_artefacts_sha256 on workload_artefacts (sha256);

-- The files that a workload's spec names, so that it gets each of them without its whole spec being
-- read. Rows go with the workload's files.
create table workload_inputs (
  workload_id uuid not null references workloads (id) on delete cascade,
  sha256 text not null,
  size_bytes bigint not null,
  primary key (workload_id, sha256)
);

-- == Training ==

-- Fine-tunes. How one is getting on stands in its workload, which has the same id.
create table runs (
  id uuid primary key references workloads (id),
  user_id text not null references users (id),
  title text not null,
  -- The model that it makes. It, the base and the dataset may be deleted once the run has ended.
  model_asset_id uuid not null,
  base_asset_id uuid not null,
  base_revision_id uuid not null,
  base_title text not null,
  dataset_asset_id uuid not null,
  dataset_revision_id uuid not null,
  dataset_title text not null,
  file_name text not null,
  parameters jsonb not null,
  -- What one hour of one device costs, and how many devices there are.
  price_id text not null,
  devices integer not null check (devices > 0),
  quote jsonb not null,
  -- Operations that training takes by the formula of the estimate; with the time that it took in
  -- the end, they say how fast this machine is.
  work_flops double precision not null,
  hold_id uuid not null references ledger_holds (id),
  held_micro bigint not null check (held_micro > 0),
  hold_expires_at timestamptz not null,
  -- Of a run that ended and was resumed: what was charged for its earlier rounds, and how many
  -- seconds they had counted, charged or not.
  settled_micro bigint not null default 0 check (settled_micro >= 0),
  settled_seconds double precision not null default 0 check (settled_seconds >= 0),
  -- Of this round. Null until settled; 0: not charged.
  charged_micro bigint check (charged_micro >= 0),
  summary jsonb,
  created_at timestamptz not null,
  -- How many times longer a finished run took than it would have alone, by the load of the machine at its end.
  slowdown double precision not null default 1 check (slowdown >= 1),
  -- How often its owner has resumed it; each round has a hold of its own.
  resumes integer not null default 0,
  -- What a run may cost at most, over all its rounds; and why it was stopped before its end, where not by its owner.
  ceiling_micro bigint not null constraint runs_ceiling_positive check (ceiling_micro > 0),
  stop_reason text constraint runs_stop_reason_known check (stop_reason in ('ceiling', 'credits', 'budget')),
  -- The API key whose budget its holds count against.
  key_id uuid,
  -- The price that it began with.
  unit_price_micro bigint not null constraint runs_unit_price_positive check (unit_price_micro > 0),
  -- What rounds that were not charged have kept of it: the next round goes on from it, and pays for it.
  unpaid_seconds double precision not null default 0 check (unpaid_seconds >= 0)
);
create index runs_by_model on runs (model_asset_id);
-- The last runs that have finished at a price tell how fast the next one will be.
create index runs_by_price on runs (price_id, created_at desc);
create index runs_by_title on runs (user_id, lower(title), id);
create index runs_by_user on runs (user_id, created_at desc, id desc);

-- What the base and the tuned model say to rows that a run has held out, or why nobody asked them. The texts are of its
-- dataset: only who may read the run reads them, so they are not among the files of the model.
create table held_out_answers (
  run_id uuid primary key references runs (id) on delete cascade,
  answers jsonb not null
);

create table training_configurations (
  id uuid primary key default gen_random_uuid(),
  user_id text not null references users (id),
  name text not null check (length(name) between 1 and 100),
  payload jsonb not null,
  created_at timestamptz not null default now(),
  unique (user_id, name)
);

-- A data file that takes long to be read before a run is read in the background. What it came to is kept, under the hash
-- of all that decides it, so that nobody reads the same again.
create table data_readings (
  id uuid primary key default gen_random_uuid(),
  user_id text not null references users (id) on delete cascade,
  -- SHA-256 over the files' hashes and the settings.
  data_name text not null,
  dataset_asset_id uuid not null references assets (id) on delete cascade,
  file_name text not null,
  -- As it was written: its order decides the name.
  input json not null,
  state text not null default 'reading' check (state in ('reading', 'done', 'failed', 'cancelled')),
  rows_read integer not null default 0,
  -- Of the file, from 0 to 1.
  part double precision not null default 0 check (part between 0 and 1),
  -- The sentence that says why it failed.
  reason text,
  report jsonb,
  created_at timestamptz not null,
  ended_at timestamptz,
  constraint data_readings_check check ((state = 'reading') = (ended_at is null)),
  constraint data_readings_check1 check ((state = 'done') = (report is not null))
);
create index data_readings_of_dataset on data_readings (dataset_asset_id);
create index data_readings_of_user on data_readings (user_id, created_at desc);
create unique index data_readings_one_at_once on data_readings (user_id, data_name) where state = 'reading';
create index data_readings_reports on data_readings (data_name) where state = 'done';

-- == Deployments ==

-- What a person has: a model that answers by its name.
create table deployments (
  id uuid primary key default gen_random_uuid(),
  user_id text not null references users (id),
  model_server_id uuid not null,
  asset_id uuid not null,
  revision_id uuid not null,
  -- The base that an adapter stands on; the model itself where it is served whole.
  base_asset_id uuid not null,
  -- The name for `model` in OpenAI-style calls.
  model_name text not null,
  title text not null,
  base_model_title text not null,
  instance_type text not null,
  -- Id of the price per hour, and for how many GPUs; 1 on the CPU.
  price_id text not null,
  price_count integer not null check (price_count between 1 and 8),
  -- Asleep: not metered; the next request wakes it.
  sleeping boolean not null default false,
  reason text not null default '',
  -- The workload that answers or answered for it last: its log outlives it.
  carrier_id uuid,
  -- The open hold, how many there were before, the milliseconds used under it, and up to when time was counted.
  hold_id uuid,
  holds_made integer not null default 0,
  unsettled_ms bigint not null default 0 check (unsettled_ms >= 0),
  metered_at timestamptz,
  settled_micro bigint not null default 0 check (settled_micro >= 0),
  -- Sums of its requests, which themselves are kept for a while only.
  requests bigint not null default 0,
  prompt_tokens bigint not null default 0,
  completion_tokens bigint not null default 0,
  tokens_micro bigint not null default 0,
  created_at timestamptz not null default now(),
  -- First time that it answered: its adapter is known to load.
  ready_at timestamptz,
  last_request_at timestamptz,
  terminated_at timestamptz,
  failed boolean not null default false,
  -- The API key whose budget its holds count against.
  key_id uuid,
  -- Its row in the table of kinds says how it is placed, what the runtime is told, what an hour costs and which words the
  -- wire has for its states.
  kind text not null,
  -- Null: the base itself. Else what of it is loaded beside the base, as its kind's spec wants it.
  adapter jsonb,
  auto_scale boolean not null default false,
  min_replicas integer not null default 1,
  max_replicas integer not null default 1,
  -- How many are wanted now, how many have answered since `metered_at`, and when all were last needed.
  replicas integer not null default 1,
  metered_replicas integer not null default 1 check (metered_replicas >= 0),
  busy_at timestamptz,
  -- How much time the open hold pays for: an hour, or as long as credit and budget last.
  held_ms bigint not null default 3600000,
  -- When the last replica that was added found no slot, or could not start: the next one waits a while.
  no_room_at timestamptz,
  -- The price of its open hold.
  unit_price_micro bigint not null constraint deployments_unit_price_positive check (unit_price_micro > 0),
  -- Why it was stopped, where not by its owner: no credit covered its next hour, or the budget of its API key was used up.
  stop_reason text constraint deployments_stop_reason_known check (stop_reason in ('credits', 'budget')),
  constraint deployments_check1 check (not failed or terminated_at is not null),
  constraint deployments_replicas_check check (
    max_replicas between 1 and 8 and min_replicas between 0 and max_replicas
    and replicas between greatest(min_replicas, 1) and max_replicas
    and (auto_scale or (min_replicas = 1 and max_replicas = 1))
  )
);
create index deployments_awake on deployments (metered_at) where terminated_at is null and not sleeping;
create index deployments_by_kind on deployments (user_id, kind, created_at desc, id desc);
create index deployments_by_server on deployments (model_server_id) where terminated_at is null;
create index deployments_by_title on deployments (user_id, lower(title), id);
create index deployments_by_user on deployments (user_id, created_at desc, id desc);
create index deployments_carrier on deployments (carrier_id) where carrier_id is not null;
create index deployments_live_asset on deployments (asset_id) where terminated_at is null;
create index deployments_live_base on deployments (base_asset_id) where terminated_at is null;
create unique index deployments_model_name on deployments (user_id, model_name) where terminated_at is null;
-- Those that have stopped and are to be settled: looked for each minute, among all that there ever were.
create index deployments_unsettled on deployments (id)
  where hold_id is not null and (sleeping or terminated_at is not null);

-- A model server: one base model in memory, with the adapters of every deployment on it.
-- Engine workloads never change, so another set of adapters is another workload: `next_workload_id`
-- starts beside `workload_id` and takes its place once it answers.
create table model_servers (
  id uuid primary key default gen_random_uuid(),
  engine text not null,
  -- What is shared: the same files under the same engine are in memory once, whoever deployed them.
  -- SHA-256 over the paths and hashes of `base_files`, so that nobody's tokenizer or template is
  -- taken for another's.
  files_sha256 text not null,
  base_files jsonb not null,
  accelerator text,
  accelerator_count integer not null,
  workload_id uuid,
  next_workload_id uuid,
  -- The starter model that everybody may use without a deployment; null for other bases.
  starter_asset_id uuid,
  starter_name text unique,
  starter_requested_at timestamptz,
  created_at timestamptz not null default now(),
  kind text not null,
  -- A model server is shared by all deployments of its base, or is one deployment's own: where the
  -- adapter was uploaded, and where the deployment may have several replicas. Every replica that it
  -- may ever have is a row, and `replicas` of them are wanted.
  deployment_id uuid references deployments (id) deferrable initially deferred,
  replica integer not null default 1 check (replica between 1 and 8),
  -- Which revision of a starter model its server has loaded: what it makes is told by it.
  starter_revision_id uuid,
  -- How often in a row a start has failed that is tried again by itself: each pause is longer.
  failed_starts integer not null default 0,
  constraint model_servers_key unique nulls not distinct
    (kind, engine, files_sha256, accelerator, accelerator_count, deployment_id, replica),
  constraint model_servers_own_check check (deployment_id is null or starter_name is null),
  constraint model_servers_replica_check1 check (deployment_id is not null or replica = 1),
  constraint model_servers_starter_check check ((starter_asset_id is null) = (starter_name is null))
);
create index model_servers_by_deployment on model_servers (deployment_id, replica) where deployment_id is not null;
-- Each change of a workload's state looks for the model server that it serves, in the engine's transactions.
create index model_servers_next_workload on model_servers (next_workload_id) where next_workload_id is not null;
create index model_servers_workload on model_servers (workload_id) where workload_id is not null;
alter table deployments add foreign key (model_server_id) references model_servers (id);

-- One row per answered request: the source of the charts, and the meter behind each charge.
create table chat_requests (
  id uuid primary key,
  user_id text not null references users (id),
  -- Null: the base model, without a deployment.
  deployment_id uuid references deployments (id),
  model_name text not null,
  at timestamptz not null,
  ok boolean not null,
  prompt_tokens integer not null,
  completion_tokens integer not null,
  first_token_ms integer,
  total_ms integer not null,
  cost_micro bigint not null
);
create index chat_requests_by_deployment on chat_requests (deployment_id, at);
create index chat_requests_by_time on chat_requests (at);

-- == Generations ==

-- Pictures that were asked for: how far each is, and what it made.
create table generations (
  id uuid primary key default uuidv7(),
  user_id text not null references users (id),
  -- The API key that asked for it.
  key_id uuid,
  generator text not null,
  provider text not null,
  model text not null,
  -- The revision of the model that made it.
  revision_id uuid,
  prompt text not null,
  parameters jsonb not null,
  seed bigint check (seed >= 0),
  -- Of prompt and parameters as they were asked for: the same call finds its picture again.
  request_sha256 text not null,
  state text not null default 'queued'
    check (state in ('queued', 'starting', 'running', 'completed', 'failed', 'cancelled')),
  reason text not null default '',
  step integer not null default 0,
  steps integer not null check (steps >= 0),
  expert_weights jsonb,
  expert_used integer,
  routing_confidence double precision,
  hold_id uuid not null,
  held_micro bigint not null check (held_micro > 0),
  -- Null until it has ended.
  charged_micro bigint,
  -- How often it was begun.
  attempt integer not null default 0,
  check_at timestamptz not null,
  lock_token uuid,
  locked_until timestamptz,
  created_at timestamptz not null,
  started_at timestamptz,
  ended_at timestamptz,
  -- Whether the model refused what was asked for: the same would be refused again.
  refused boolean not null default false,
  -- An edit of what another generation has made is its child; all of a tree know the first of them, which itself has null.
  source_generation_id uuid references generations (id) on delete set null,
  root_generation_id uuid,
  -- A job that was begun at a service: whoever goes on with the generation finds it again.
  upstream_job jsonb,
  -- What generates has so many places, and a queue of those who wait for them: a starter's, that of a deployment's own
  -- model server, or that of the services together. One that is cold or broken holds the places of nobody else.
  queue text,
  -- Which picture of its source an edit was made from: one generation may have made several.
  source_output_id uuid,
  -- The revision of the LoRA that was put on the model, as it was when the picture was asked for.
  lora_revision_id uuid,
  -- When the call that waited for the picture went away without it. The same call repeated takes it over, which ends that.
  left_at timestamptz,
  -- The process at which an OpenAI call waits for the picture. Where that is killed nobody notes `left_at`: the call
  -- repeated finds it by this.
  process_id uuid,
  constraint generations_check check (charged_micro between 0 and held_micro),
  constraint generations_check1 check ((state in ('completed', 'failed', 'cancelled')) = (ended_at is not null)),
  constraint generations_check2 check ((ended_at is null) = (charged_micro is null)),
  constraint generations_check3 check (not refused or state = 'failed'),
  constraint generations_check4 check (ended_at is not null or queue is not null)
);
create index generations_by_end on generations (user_id, coalesce(ended_at, 'infinity'));
create index generations_by_request on generations (user_id, request_sha256, id desc);
create index generations_by_source on generations (source_generation_id);
create index generations_by_source_output on generations (source_output_id);
create index generations_by_tree on generations (user_id, coalesce(root_generation_id, id), id desc);
create index generations_by_user on generations (user_id, id desc);
-- Lists that are narrowed read what they show, however many pictures a user has.
create index generations_by_words on generations using gin (user_id, lower(prompt) gin_trgm_ops)
  with (gin_pending_list_limit = 256);
-- The places in a queue are counted in that queue alone, however many wait in others.
create index generations_running on generations (queue, user_id)
  where state in ('starting', 'running') and ended_at is null;
create index generations_to_do on generations (user_id, id) where ended_at is null;
create index generations_waiting on generations (queue, user_id, id) where state = 'queued' and ended_at is null;

create table generation_outputs (
  id uuid primary key default uuidv7(),
  generation_id uuid not null references generations (id) on delete cascade,
  user_id text not null references users (id),
  sha256 text not null references blobs (sha256),
  media_type text not null,
  size_bytes bigint not null check (size_bytes > 0),
  width integer not null check (width > 0),
  height integer not null check (height > 0),
  -- A small copy of a picture, for lists; null where the picture itself is small, or none could be made.
  thumbnail_sha256 text references blobs (sha256),
  thumbnail_bytes bigint,
  constraint generation_outputs_check check ((thumbnail_sha256 is null) = (thumbnail_bytes is null))
);
create index generation_outputs_by_blob on generation_outputs (sha256);
create index generation_outputs_by_generation on generation_outputs (generation_id);
create index generation_outputs_by_thumbnail on generation_outputs (thumbnail_sha256);
alter table generations add foreign key (source_output_id) references generation_outputs (id) on delete set null;

-- A preview is written several times a second, and worth nothing once its picture has ended: neither the row that is
-- leased and read with every list, nor the log of the database carries it.
create unlogged table generation_previews (
  generation_id uuid primary key references generations (id) on delete cascade,
  preview text not null check (length(preview) <= 200000)
);

-- When each user's turn in a queue came last; apart from the generations, so that whoever deletes them does not come
-- first again.
create table generation_turns (
  user_id text not null references users (id) on delete cascade,
  queue text not null,
  served_at timestamptz not null,
  primary key (user_id, queue)
);

-- Pictures that are edited. One that belongs to a generation is its own, and goes with it; one that does not was uploaded,
-- and is kept for a day.
create table input_pictures (
  id uuid primary key default uuidv7(),
  user_id text not null references users (id),
  generation_id uuid unique references generations (id) on delete cascade,
  sha256 text not null references blobs (sha256),
  media_type text not null check (media_type in ('image/png', 'image/jpeg', 'image/webp')),
  size_bytes bigint not null check (size_bytes > 0),
  width integer not null check (width > 0),
  height integer not null check (height > 0),
  created_at timestamptz not null,
  thumbnail_sha256 text references blobs (sha256),
  thumbnail_bytes bigint,
  constraint input_pictures_check check ((thumbnail_sha256 is null) = (thumbnail_bytes is null))
);
create index input_pictures_by_blob on input_pictures (sha256);
create index input_pictures_by_thumbnail on input_pictures (thumbnail_sha256);
create index input_pictures_by_user on input_pictures (user_id);
create index input_pictures_unused on input_pictures (created_at) where generation_id is null;
