-- The whole schema, made by scripts/gen/gen-database.ts from the migrations. To read, not to run.

create extension btree_gin;
create extension pg_trgm;

create type preparation_id as enum ('serving', 'starter-language-model', 'training', 'vllm', 'starter-image-model');
create type preparation_state as enum ('waiting', 'running', 'ready', 'failed');

create table access_requests (
  id uuid not null default gen_random_uuid(),
  restricted_model_id text not null,
  user_id text not null,
  message text not null,
  state text not null default 'requested'::text,
  requested_at timestamp(3) with time zone not null default now(),
  decided_at timestamp(3) with time zone,
  decided_by text,
  constraint access_requests_pkey PRIMARY KEY (id),
  constraint access_requests_restricted_model_id_user_id_key UNIQUE (restricted_model_id, user_id),
  constraint access_requests_state_check CHECK (state = ANY (ARRAY['requested'::text, 'granted'::text, 'refused'::text])),
  constraint access_requests_decided_by_fkey FOREIGN KEY (decided_by) REFERENCES users(id) ON DELETE SET NULL,
  constraint access_requests_restricted_model_id_fkey FOREIGN KEY (restricted_model_id) REFERENCES restricted_models(id) ON DELETE CASCADE,
  constraint access_requests_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX access_requests_decided_by ON public.access_requests USING btree (decided_by);
CREATE INDEX access_requests_newest ON public.access_requests USING btree (requested_at, id);
CREATE INDEX access_requests_user ON public.access_requests USING btree (user_id);
CREATE INDEX access_requests_waiting ON public.access_requests USING btree (state, requested_at, id);

create table api_keys (
  user_id text not null,
  sha256 bytea not null,
  encrypted bytea,
  created_at timestamp with time zone not null default now(),
  last_used_at timestamp with time zone,
  id uuid not null default uuidv7(),
  name text not null,
  scopes text[] not null default '{everything}'::text[],
  for_web_app boolean not null,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  previous_sha256 bytea,
  previous_until timestamp with time zone,
  budget_micro bigint,
  budget_period text,
  spent_micro bigint not null default 0,
  held_micro bigint not null default 0,
  counted_since timestamp with time zone not null default now(),
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_previous_sha256_key UNIQUE (previous_sha256),
  constraint api_keys_sha256_key UNIQUE (sha256),
  constraint api_keys_budget_has_period CHECK ((budget_micro IS NULL) = (budget_period IS NULL)),
  constraint api_keys_budget_micro_check CHECK (budget_micro > 0),
  constraint api_keys_budget_period_check CHECK (budget_period = ANY (ARRAY['day'::text, 'month'::text, 'total'::text])),
  constraint api_keys_held_micro_check CHECK (held_micro >= 0),
  constraint api_keys_name_check CHECK (length(name) >= 1 AND length(name) <= 100),
  constraint api_keys_only_the_web_apps_is_shown CHECK (for_web_app = (encrypted IS NOT NULL)),
  constraint api_keys_previous_has_end CHECK ((previous_sha256 IS NULL) = (previous_until IS NULL)),
  constraint api_keys_scopes_check CHECK (cardinality(scopes) > 0 AND scopes <@ '{everything,inference,read}'::text[]),
  constraint api_keys_spent_micro_check CHECK (spent_micro >= 0),
  constraint api_keys_web_app_is_unlimited CHECK (NOT for_web_app OR num_nonnulls(expires_at, revoked_at, budget_micro) = 0),
  constraint api_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX api_keys_by_user ON public.api_keys USING btree (user_id, id);
CREATE UNIQUE INDEX api_keys_for_web_app ON public.api_keys USING btree (user_id) WHERE for_web_app;

create table asset_files (
  asset_id uuid not null,
  path text not null,
  first_number integer not null,
  last_number integer,
  sha256 text not null,
  size_bytes bigint not null,
  uploaded_at timestamp(3) with time zone not null default now(),
  constraint asset_files_pkey PRIMARY KEY (asset_id, path, first_number),
  constraint asset_files_check CHECK (last_number >= first_number),
  constraint asset_files_first_number_check CHECK (first_number > 0),
  constraint asset_files_size_bytes_check CHECK (size_bytes >= 0),
  constraint asset_files_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON DELETE CASCADE,
  constraint asset_files_sha256_fkey FOREIGN KEY (sha256) REFERENCES blobs(sha256)
);
CREATE UNIQUE INDEX asset_files_newest ON public.asset_files USING btree (asset_id, path) WHERE (last_number IS NULL);
CREATE INDEX asset_files_sha256 ON public.asset_files USING btree (sha256);

create table asset_lineage (
  asset_id uuid not null,
  run_id uuid not null,
  base_asset_id uuid not null,
  base_revision_id uuid not null,
  base_title text not null,
  dataset_asset_id uuid not null,
  dataset_revision_id uuid not null,
  dataset_title text not null,
  created_at timestamp with time zone not null default now(),
  constraint asset_lineage_pkey PRIMARY KEY (asset_id),
  constraint asset_lineage_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON DELETE CASCADE
);
CREATE INDEX asset_lineage_base ON public.asset_lineage USING btree (base_asset_id);
CREATE INDEX asset_lineage_dataset ON public.asset_lineage USING btree (dataset_asset_id);

create table assets (
  id uuid not null default gen_random_uuid(),
  owner_user_id text,
  is_starter boolean not null default false,
  starter_slug text,
  dataset_type text not null,
  title text not null,
  category text not null,
  details text not null,
  tags text[] not null default '{}'::text[],
  price_micro bigint not null default 0,
  embedding_model text not null default ''::text,
  dimensions integer not null default 0,
  is_published boolean not null default false,
  base_model_type text,
  parent_asset_id uuid,
  revision_id uuid,
  file_count integer not null default 0,
  size_bytes bigint not null default 0,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  deleted_at timestamp with time zone,
  family text not null default ''::text,
  search_text text not null generated always as (asset_search_text(NULL::text, title, family, base_model_type, tags)) stored,
  starter_task text,
  is_lora boolean not null default false,
  constraint assets_pkey PRIMARY KEY (id),
  constraint assets_starter_slug_key UNIQUE (starter_slug),
  constraint assets_check CHECK (is_starter = (owner_user_id IS NULL)),
  constraint assets_check1 CHECK (is_starter = (starter_slug IS NOT NULL)),
  constraint assets_dataset_type_check CHECK (dataset_type = ANY (ARRAY['RAW'::text, 'MODEL'::text, 'VECTOR'::text])),
  constraint assets_dimensions_check CHECK (dimensions >= 0),
  constraint assets_price_micro_check CHECK (price_micro >= 0),
  constraint assets_starter_task_check CHECK (starter_task = ANY (ARRAY['text'::text, 'image'::text])),
  constraint assets_starter_task_check1 CHECK ((starter_slug IS NULL) = (starter_task IS NULL)),
  constraint assets_owner_user_id_fkey FOREIGN KEY (owner_user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint assets_parent_asset_id_fkey FOREIGN KEY (parent_asset_id) REFERENCES assets(id) ON DELETE SET NULL,
  constraint assets_revision_id_fkey FOREIGN KEY (revision_id) REFERENCES revisions(id) DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX assets_by_creation ON public.assets USING btree (owner_user_id, created_at, id) WHERE (deleted_at IS NULL);
CREATE INDEX assets_by_name ON public.assets USING gin (owner_user_id, string_to_array(search_text, chr(10)));
CREATE INDEX assets_by_size ON public.assets USING btree (owner_user_id, dataset_type, size_bytes, id);
CREATE INDEX assets_by_tag ON public.assets USING gin (owner_user_id, tags) WITH (gin_pending_list_limit='256');
CREATE INDEX assets_by_title ON public.assets USING btree (owner_user_id, dataset_type, lower(title), id);
CREATE INDEX assets_by_update ON public.assets USING btree (owner_user_id, dataset_type, updated_at, id);
CREATE INDEX assets_by_words ON public.assets USING gin (owner_user_id, search_text gin_trgm_ops, ((id)::text) gin_trgm_ops) WITH (gin_pending_list_limit='256');
CREATE INDEX assets_deleted ON public.assets USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX assets_loras ON public.assets USING btree (owner_user_id, created_at, id) WHERE (is_lora AND (deleted_at IS NULL));
CREATE INDEX assets_parent ON public.assets USING btree (parent_asset_id);
CREATE INDEX assets_revision ON public.assets USING btree (revision_id);

create table audit_log (
  id bigint not null generated always as identity,
  at timestamp with time zone not null default now(),
  user_id text,
  action text not null,
  detail jsonb not null default '{}'::jsonb,
  constraint audit_log_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_log_by_action ON public.audit_log USING btree (user_id, action, at);
CREATE INDEX audit_log_by_noun ON public.audit_log USING btree (split_part(action, '.'::text, 1), id DESC);
CREATE INDEX audit_log_by_user ON public.audit_log USING btree (user_id, id DESC);

create table blob_owners (
  sha256 text not null,
  owner_kind text not null,
  owner_id text not null,
  size_bytes bigint not null,
  refs bigint not null,
  constraint blob_owners_pkey PRIMARY KEY (sha256, owner_kind, owner_id),
  constraint blob_owners_owner_kind_check CHECK (owner_kind = ANY (ARRAY['user'::text, 'starter'::text, 'workload'::text])),
  constraint blob_owners_refs_check CHECK (refs >= 0),
  constraint blob_owners_size_bytes_check CHECK (size_bytes >= 0),
  constraint blob_owners_sha256_fkey FOREIGN KEY (sha256) REFERENCES blobs(sha256)
);

create table blobs (
  sha256 text not null,
  size_bytes bigint not null,
  created_at timestamp with time zone not null default now(),
  touched_at timestamp with time zone not null default now(),
  checked_at timestamp with time zone not null default now(),
  damaged_at timestamp with time zone,
  unowned boolean not null default true,
  constraint blobs_pkey PRIMARY KEY (sha256),
  constraint blobs_sha256_check CHECK (sha256 ~ '^[0-9a-f]{64}$'::text),
  constraint blobs_size_bytes_check CHECK (size_bytes >= 0)
);
CREATE INDEX blobs_checked_at ON public.blobs USING btree (checked_at);
CREATE INDEX blobs_damaged ON public.blobs USING btree (sha256) WHERE (damaged_at IS NOT NULL);
CREATE INDEX blobs_unowned ON public.blobs USING btree (touched_at) WHERE unowned;

create table chat_requests (
  id uuid not null,
  user_id text not null,
  deployment_id uuid,
  model_name text not null,
  at timestamp with time zone not null,
  ok boolean not null,
  prompt_tokens integer not null,
  completion_tokens integer not null,
  first_token_ms integer,
  total_ms integer not null,
  cost_micro bigint not null,
  constraint chat_requests_pkey PRIMARY KEY (id),
  constraint chat_requests_deployment_id_fkey FOREIGN KEY (deployment_id) REFERENCES deployments(id),
  constraint chat_requests_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE INDEX chat_requests_by_deployment ON public.chat_requests USING btree (deployment_id, at);
CREATE INDEX chat_requests_by_time ON public.chat_requests USING btree (at);

create table column_statistics (
  sha256 text not null,
  ending text not null,
  statistics jsonb not null,
  constraint column_statistics_pkey PRIMARY KEY (sha256, ending)
);

create table contact_messages (
  id uuid not null default uuidv7(),
  user_id text not null,
  subject text not null,
  message text not null,
  status text not null default 'new'::text,
  created_at timestamp with time zone not null default now(),
  constraint contact_messages_pkey PRIMARY KEY (id),
  constraint contact_messages_message_check CHECK (length(message) >= 1 AND length(message) <= 5000),
  constraint contact_messages_status_check CHECK (status = ANY (ARRAY['new'::text, 'read'::text, 'answered'::text])),
  constraint contact_messages_subject_check CHECK (length(subject) >= 1 AND length(subject) <= 200),
  constraint contact_messages_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX contact_messages_by_status ON public.contact_messages USING btree (status, id DESC);
CREATE INDEX contact_messages_by_user ON public.contact_messages USING btree (user_id);

create table credit_code_redemptions (
  code_id uuid not null,
  user_id text not null,
  redeemed_at timestamp with time zone not null default now(),
  constraint credit_code_redemptions_pkey PRIMARY KEY (code_id, user_id),
  constraint credit_code_redemptions_code_id_fkey FOREIGN KEY (code_id) REFERENCES credit_codes(id),
  constraint credit_code_redemptions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE INDEX credit_code_redemptions_by_user ON public.credit_code_redemptions USING btree (user_id);
CREATE INDEX credit_code_redemptions_latest ON public.credit_code_redemptions USING btree (code_id, redeemed_at DESC);

create table credit_codes (
  id uuid not null default uuidv7(),
  sha256 bytea not null,
  hint text not null,
  amount_micro bigint not null,
  redemptions integer not null default 0,
  redemptions_max integer not null,
  note text not null,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  created_by text not null,
  created_at timestamp with time zone not null default now(),
  constraint credit_codes_pkey PRIMARY KEY (id),
  constraint credit_codes_sha256_key UNIQUE (sha256),
  constraint credit_codes_amount_positive CHECK (amount_micro > 0),
  constraint credit_codes_redemptions_max_positive CHECK (redemptions_max > 0),
  constraint credit_codes_redemptions_within CHECK (redemptions >= 0 AND redemptions <= redemptions_max),
  constraint credit_codes_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id)
);
CREATE INDEX credit_codes_by_creator ON public.credit_codes USING btree (created_by);

create table data_readings (
  id uuid not null default gen_random_uuid(),
  user_id text not null,
  data_name text not null,
  dataset_asset_id uuid not null,
  file_name text not null,
  input json not null,
  state text not null default 'reading'::text,
  rows_read integer not null default 0,
  part double precision not null default 0,
  reason text,
  report jsonb,
  created_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  constraint data_readings_pkey PRIMARY KEY (id),
  constraint data_readings_check CHECK ((state = 'reading'::text) = (ended_at IS NULL)),
  constraint data_readings_check1 CHECK ((state = 'done'::text) = (report IS NOT NULL)),
  constraint data_readings_part_check CHECK (part >= 0::double precision AND part <= 1::double precision),
  constraint data_readings_state_check CHECK (state = ANY (ARRAY['reading'::text, 'done'::text, 'failed'::text, 'cancelled'::text])),
  constraint data_readings_dataset_asset_id_fkey FOREIGN KEY (dataset_asset_id) REFERENCES assets(id) ON DELETE CASCADE,
  constraint data_readings_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX data_readings_of_dataset ON public.data_readings USING btree (dataset_asset_id);
CREATE INDEX data_readings_of_user ON public.data_readings USING btree (user_id, created_at DESC);
CREATE UNIQUE INDEX data_readings_one_at_once ON public.data_readings USING btree (user_id, data_name) WHERE (state = 'reading'::text);
CREATE INDEX data_readings_reports ON public.data_readings USING btree (data_name) WHERE (state = 'done'::text);

create table deployments (
  id uuid not null default gen_random_uuid(),
  user_id text not null,
  model_server_id uuid not null,
  asset_id uuid not null,
  revision_id uuid not null,
  base_asset_id uuid not null,
  model_name text not null,
  title text not null,
  base_model_title text not null,
  instance_type text not null,
  price_id text not null,
  price_count integer not null,
  sleeping boolean not null default false,
  reason text not null default ''::text,
  carrier_id uuid,
  hold_id uuid,
  holds_made integer not null default 0,
  unsettled_ms bigint not null default 0,
  metered_at timestamp with time zone,
  settled_micro bigint not null default 0,
  requests bigint not null default 0,
  prompt_tokens bigint not null default 0,
  completion_tokens bigint not null default 0,
  tokens_micro bigint not null default 0,
  created_at timestamp with time zone not null default now(),
  ready_at timestamp with time zone,
  last_request_at timestamp with time zone,
  terminated_at timestamp with time zone,
  failed boolean not null default false,
  key_id uuid,
  kind text not null,
  adapter jsonb,
  auto_scale boolean not null default false,
  min_replicas integer not null default 1,
  max_replicas integer not null default 1,
  replicas integer not null default 1,
  metered_replicas integer not null default 1,
  busy_at timestamp with time zone,
  held_ms bigint not null default 3600000,
  no_room_at timestamp with time zone,
  unit_price_micro bigint not null,
  stop_reason text,
  constraint deployments_pkey PRIMARY KEY (id),
  constraint deployments_check1 CHECK (NOT failed OR terminated_at IS NOT NULL),
  constraint deployments_metered_replicas_check CHECK (metered_replicas >= 0),
  constraint deployments_price_count_check CHECK (price_count >= 1 AND price_count <= 8),
  constraint deployments_replicas_check CHECK (max_replicas >= 1 AND max_replicas <= 8 AND min_replicas >= 0 AND min_replicas <= max_replicas AND replicas >= GREATEST(min_replicas, 1) AND replicas <= max_replicas AND (auto_scale OR min_replicas = 1 AND max_replicas = 1)),
  constraint deployments_settled_micro_check CHECK (settled_micro >= 0),
  constraint deployments_stop_reason_known CHECK (stop_reason = ANY (ARRAY['credits'::text, 'budget'::text])),
  constraint deployments_unit_price_positive CHECK (unit_price_micro > 0),
  constraint deployments_unsettled_ms_check CHECK (unsettled_ms >= 0),
  constraint deployments_model_server_id_fkey FOREIGN KEY (model_server_id) REFERENCES model_servers(id),
  constraint deployments_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE INDEX deployments_awake ON public.deployments USING btree (metered_at) WHERE ((terminated_at IS NULL) AND (NOT sleeping));
CREATE INDEX deployments_by_kind ON public.deployments USING btree (user_id, kind, created_at DESC, id DESC);
CREATE INDEX deployments_by_server ON public.deployments USING btree (model_server_id) WHERE (terminated_at IS NULL);
CREATE INDEX deployments_by_title ON public.deployments USING btree (user_id, lower(title), id);
CREATE INDEX deployments_by_user ON public.deployments USING btree (user_id, created_at DESC, id DESC);
CREATE INDEX deployments_carrier ON public.deployments USING btree (carrier_id) WHERE (carrier_id IS NOT NULL);
CREATE INDEX deployments_live_asset ON public.deployments USING btree (asset_id) WHERE (terminated_at IS NULL);
CREATE INDEX deployments_live_base ON public.deployments USING btree (base_asset_id) WHERE (terminated_at IS NULL);
CREATE UNIQUE INDEX deployments_model_name ON public.deployments USING btree (user_id, model_name) WHERE (terminated_at IS NULL);
CREATE INDEX deployments_unsettled ON public.deployments USING btree (id) WHERE ((hold_id IS NOT NULL) AND (sleeping OR (terminated_at IS NOT NULL)));

create table generation_outputs (
  id uuid not null default uuidv7(),
  generation_id uuid not null,
  user_id text not null,
  sha256 text not null,
  media_type text not null,
  size_bytes bigint not null,
  width integer not null,
  height integer not null,
  thumbnail_sha256 text,
  thumbnail_bytes bigint,
  constraint generation_outputs_pkey PRIMARY KEY (id),
  constraint generation_outputs_check CHECK ((thumbnail_sha256 IS NULL) = (thumbnail_bytes IS NULL)),
  constraint generation_outputs_height_check CHECK (height > 0),
  constraint generation_outputs_size_bytes_check CHECK (size_bytes > 0),
  constraint generation_outputs_width_check CHECK (width > 0),
  constraint generation_outputs_generation_id_fkey FOREIGN KEY (generation_id) REFERENCES generations(id) ON DELETE CASCADE,
  constraint generation_outputs_sha256_fkey FOREIGN KEY (sha256) REFERENCES blobs(sha256),
  constraint generation_outputs_thumbnail_sha256_fkey FOREIGN KEY (thumbnail_sha256) REFERENCES blobs(sha256),
  constraint generation_outputs_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE INDEX generation_outputs_by_blob ON public.generation_outputs USING btree (sha256);
CREATE INDEX generation_outputs_by_generation ON public.generation_outputs USING btree (generation_id);
CREATE INDEX generation_outputs_by_thumbnail ON public.generation_outputs USING btree (thumbnail_sha256);

create unlogged table generation_previews (
  generation_id uuid not null,
  preview text not null,
  constraint generation_previews_pkey PRIMARY KEY (generation_id),
  constraint generation_previews_preview_check CHECK (length(preview) <= 200000),
  constraint generation_previews_generation_id_fkey FOREIGN KEY (generation_id) REFERENCES generations(id) ON DELETE CASCADE
);

create table generation_turns (
  user_id text not null,
  queue text not null,
  served_at timestamp with time zone not null,
  constraint generation_turns_pkey PRIMARY KEY (user_id, queue),
  constraint generation_turns_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

create table generations (
  id uuid not null default uuidv7(),
  user_id text not null,
  key_id uuid,
  generator text not null,
  provider text not null,
  model text not null,
  revision_id uuid,
  prompt text not null,
  parameters jsonb not null,
  seed bigint,
  request_sha256 text not null,
  state text not null default 'queued'::text,
  reason text not null default ''::text,
  step integer not null default 0,
  steps integer not null,
  expert_weights jsonb,
  expert_used integer,
  routing_confidence double precision,
  hold_id uuid not null,
  held_micro bigint not null,
  charged_micro bigint,
  attempt integer not null default 0,
  check_at timestamp with time zone not null,
  lock_token uuid,
  locked_until timestamp with time zone,
  created_at timestamp with time zone not null,
  started_at timestamp with time zone,
  ended_at timestamp with time zone,
  refused boolean not null default false,
  source_generation_id uuid,
  root_generation_id uuid,
  upstream_job jsonb,
  queue text,
  source_output_id uuid,
  lora_revision_id uuid,
  left_at timestamp with time zone,
  process_id uuid,
  constraint generations_pkey PRIMARY KEY (id),
  constraint generations_check CHECK (charged_micro >= 0 AND charged_micro <= held_micro),
  constraint generations_check1 CHECK ((state = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text])) = (ended_at IS NOT NULL)),
  constraint generations_check2 CHECK ((ended_at IS NULL) = (charged_micro IS NULL)),
  constraint generations_check3 CHECK (NOT refused OR state = 'failed'::text),
  constraint generations_check4 CHECK (ended_at IS NOT NULL OR queue IS NOT NULL),
  constraint generations_held_micro_check CHECK (held_micro > 0),
  constraint generations_seed_check CHECK (seed >= 0),
  constraint generations_state_check CHECK (state = ANY (ARRAY['queued'::text, 'starting'::text, 'running'::text, 'completed'::text, 'failed'::text, 'cancelled'::text])),
  constraint generations_steps_check CHECK (steps >= 0),
  constraint generations_source_generation_id_fkey FOREIGN KEY (source_generation_id) REFERENCES generations(id) ON DELETE SET NULL,
  constraint generations_source_output_id_fkey FOREIGN KEY (source_output_id) REFERENCES generation_outputs(id) ON DELETE SET NULL,
  constraint generations_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE INDEX generations_by_end ON public.generations USING btree (user_id, COALESCE(ended_at, 'infinity'::timestamp with time zone));
CREATE INDEX generations_by_request ON public.generations USING btree (user_id, request_sha256, id DESC);
CREATE INDEX generations_by_source ON public.generations USING btree (source_generation_id);
CREATE INDEX generations_by_source_output ON public.generations USING btree (source_output_id);
CREATE INDEX generations_by_tree ON public.generations USING btree (user_id, COALESCE(root_generation_id, id), id DESC);
CREATE INDEX generations_by_user ON public.generations USING btree (user_id, id DESC);
CREATE INDEX generations_by_words ON public.generations USING gin (user_id, lower(prompt) gin_trgm_ops) WITH (gin_pending_list_limit='256');
CREATE INDEX generations_running ON public.generations USING btree (queue, user_id) WHERE ((state = ANY (ARRAY['starting'::text, 'running'::text])) AND (ended_at IS NULL));
CREATE INDEX generations_to_do ON public.generations USING btree (user_id, id) WHERE (ended_at IS NULL);
CREATE INDEX generations_waiting ON public.generations USING btree (queue, user_id, id) WHERE ((state = 'queued'::text) AND (ended_at IS NULL));

create table held_out_answers (
  run_id uuid not null,
  answers jsonb not null,
  constraint held_out_answers_pkey PRIMARY KEY (run_id),
  constraint held_out_answers_run_id_fkey FOREIGN KEY (run_id) REFERENCES runs(id) ON DELETE CASCADE
);

create table idempotency_keys (
  user_id text not null,
  key text not null,
  operation text not null,
  input_sha256 text not null,
  answer jsonb,
  created_at timestamp with time zone not null default now(),
  constraint idempotency_keys_pkey PRIMARY KEY (user_id, key),
  constraint idempotency_keys_key_check CHECK (length(key) >= 1 AND length(key) <= 255)
);
CREATE INDEX idempotency_keys_created_at ON public.idempotency_keys USING btree (created_at);

create table input_pictures (
  id uuid not null default uuidv7(),
  user_id text not null,
  generation_id uuid,
  sha256 text not null,
  media_type text not null,
  size_bytes bigint not null,
  width integer not null,
  height integer not null,
  created_at timestamp with time zone not null,
  thumbnail_sha256 text,
  thumbnail_bytes bigint,
  constraint input_pictures_pkey PRIMARY KEY (id),
  constraint input_pictures_generation_id_key UNIQUE (generation_id),
  constraint input_pictures_check CHECK ((thumbnail_sha256 IS NULL) = (thumbnail_bytes IS NULL)),
  constraint input_pictures_height_check CHECK (height > 0),
  constraint input_pictures_media_type_check CHECK (media_type = ANY (ARRAY['image/png'::text, 'image/jpeg'::text, 'image/webp'::text])),
  constraint input_pictures_size_bytes_check CHECK (size_bytes > 0),
  constraint input_pictures_width_check CHECK (width > 0),
  constraint input_pictures_generation_id_fkey FOREIGN KEY (generation_id) REFERENCES generations(id) ON DELETE CASCADE,
  constraint input_pictures_sha256_fkey FOREIGN KEY (sha256) REFERENCES blobs(sha256),
  constraint input_pictures_thumbnail_sha256_fkey FOREIGN KEY (thumbnail_sha256) REFERENCES blobs(sha256),
  constraint input_pictures_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE INDEX input_pictures_by_blob ON public.input_pictures USING btree (sha256);
CREATE INDEX input_pictures_by_thumbnail ON public.input_pictures USING btree (thumbnail_sha256);
CREATE INDEX input_pictures_by_user ON public.input_pictures USING btree (user_id);
CREATE INDEX input_pictures_unused ON public.input_pictures USING btree (created_at) WHERE (generation_id IS NULL);

create table job_outcomes (
  job text not null,
  failed bigint not null default 0,
  succeeded_at timestamp with time zone,
  constraint job_outcomes_pkey PRIMARY KEY (job)
);

create table known_addresses (
  mailbox_hash bytea not null,
  first_seen_at timestamp with time zone not null default now(),
  constraint known_addresses_pkey PRIMARY KEY (mailbox_hash)
);

create table ledger_accounts (
  id text not null,
  kind text not null,
  owner_user_id text,
  credits_posted bigint,
  debits_posted bigint,
  debits_pending bigint,
  created_at timestamp with time zone not null default now(),
  given bigint,
  constraint ledger_accounts_pkey PRIMARY KEY (id),
  constraint ledger_accounts_available_not_negative CHECK ((credits_posted - debits_posted - debits_pending) >= 0),
  constraint ledger_accounts_credits_posted_not_negative CHECK (credits_posted >= 0),
  constraint ledger_accounts_debits_pending_not_negative CHECK (debits_pending >= 0),
  constraint ledger_accounts_debits_posted_not_negative CHECK (debits_posted >= 0),
  constraint ledger_accounts_given_within_balance CHECK (given >= 0 AND given <= (credits_posted - debits_posted)),
  constraint ledger_accounts_kind_known CHECK (kind = ANY (ARRAY['user'::text, 'grants'::text, 'payments'::text, 'revenue'::text, 'receivable'::text, 'losses'::text])),
  constraint ledger_accounts_named_after_owner CHECK ((kind = ANY (ARRAY['user'::text, 'receivable'::text])) = (owner_user_id IS NOT NULL) AND id = COALESCE((kind || ':'::text) || owner_user_id, id)),
  constraint ledger_accounts_user_has_totals CHECK (num_nonnulls(credits_posted, debits_posted, debits_pending, given) =
CASE kind
    WHEN 'user'::text THEN 4
    ELSE 0
END),
  constraint ledger_accounts_owner_user_id_fkey FOREIGN KEY (owner_user_id) REFERENCES users(id)
);
CREATE INDEX ledger_accounts_by_owner ON public.ledger_accounts USING btree (owner_user_id);
CREATE INDEX ledger_accounts_receivable ON public.ledger_accounts USING btree (owner_user_id) WHERE (kind = 'receivable'::text);

create table ledger_daily (
  account_id text not null,
  day date not null,
  counterpart text not null,
  paid bigint not null,
  received bigint not null,
  transfers bigint not null,
  constraint ledger_daily_pkey PRIMARY KEY (account_id, day, counterpart),
  constraint ledger_daily_account_id_fkey FOREIGN KEY (account_id) REFERENCES ledger_accounts(id)
);

create table ledger_given (
  id uuid not null default uuidv7(),
  account_id text not null,
  transfer_id uuid,
  amount bigint not null,
  remaining bigint not null,
  expires_at timestamp with time zone not null default 'infinity'::timestamp with time zone,
  constraint ledger_given_pkey PRIMARY KEY (id),
  constraint ledger_given_transfer_id_key UNIQUE (transfer_id),
  constraint ledger_given_amount_positive CHECK (amount > 0),
  constraint ledger_given_remaining_within_amount CHECK (remaining >= 0 AND remaining <= amount),
  constraint ledger_given_account_id_fkey FOREIGN KEY (account_id) REFERENCES ledger_accounts(id),
  constraint ledger_given_transfer_id_fkey FOREIGN KEY (transfer_id) REFERENCES ledger_transfers(id)
);
CREATE INDEX ledger_given_by_account ON public.ledger_given USING btree (account_id);
CREATE INDEX ledger_given_by_expiry ON public.ledger_given USING btree (expires_at) WHERE (remaining > 0);

create table ledger_holds (
  id uuid not null default uuidv7(),
  debit_account_id text not null,
  credit_account_id text not null,
  amount bigint not null,
  amount_asked bigint not null,
  kind text not null,
  description text not null,
  refs jsonb not null,
  idempotency_key text not null,
  status text not null default 'pending'::text,
  settled_amount bigint,
  expires_at timestamp with time zone not null,
  created_at timestamp with time zone not null default now(),
  ended_at timestamp with time zone,
  constraint ledger_holds_pkey PRIMARY KEY (id),
  constraint ledger_holds_idempotency_key_key UNIQUE (idempotency_key),
  constraint ledger_holds_accounts_differ CHECK (debit_account_id <> credit_account_id),
  constraint ledger_holds_amount_positive CHECK (amount > 0),
  constraint ledger_holds_end_has_time CHECK ((status = 'pending'::text) = (ended_at IS NULL)),
  constraint ledger_holds_kind_known CHECK (kind = ANY (ARRAY['grant'::text, 'purchase'::text, 'transfer'::text, 'charge'::text, 'refund'::text])),
  constraint ledger_holds_refs_object CHECK (jsonb_typeof(refs) = 'object'::text),
  constraint ledger_holds_settled_has_amount CHECK ((status = 'settled'::text) = (settled_amount IS NOT NULL)),
  constraint ledger_holds_settled_within_amount CHECK (settled_amount >= 1 AND settled_amount <= amount),
  constraint ledger_holds_status_known CHECK (status = ANY (ARRAY['pending'::text, 'settled'::text, 'released'::text])),
  constraint ledger_holds_credit_account_id_fkey FOREIGN KEY (credit_account_id) REFERENCES ledger_accounts(id),
  constraint ledger_holds_debit_account_id_fkey FOREIGN KEY (debit_account_id) REFERENCES ledger_accounts(id)
);
CREATE INDEX ledger_holds_pending_by_account ON public.ledger_holds USING btree (debit_account_id) WHERE (status = 'pending'::text);
CREATE INDEX ledger_holds_pending_by_expiry ON public.ledger_holds USING btree (expires_at) WHERE (status = 'pending'::text);

create table ledger_key_daily (
  account_id text not null,
  key_id text not null,
  day date not null,
  counterpart text not null,
  paid bigint not null,
  received bigint not null,
  transfers bigint not null,
  constraint ledger_key_daily_pkey PRIMARY KEY (account_id, key_id, day, counterpart),
  constraint ledger_key_daily_account_id_fkey FOREIGN KEY (account_id) REFERENCES ledger_accounts(id)
);

create table ledger_key_totals (
  account_id text not null,
  key_id text not null,
  counterpart text not null,
  paid bigint not null,
  received bigint not null,
  transfers bigint not null,
  constraint ledger_key_totals_pkey PRIMARY KEY (account_id, key_id, counterpart),
  constraint ledger_key_totals_account_id_fkey FOREIGN KEY (account_id) REFERENCES ledger_accounts(id)
);

create table ledger_last_proof (
  single boolean not null default true,
  proved_at timestamp with time zone not null,
  report jsonb not null,
  constraint ledger_last_proof_pkey PRIMARY KEY (single),
  constraint ledger_last_proof_single_check CHECK (single)
);

create table ledger_sealed_totals (
  account_id text not null,
  counterpart text not null,
  paid bigint not null,
  received bigint not null,
  transfers bigint not null,
  constraint ledger_sealed_totals_pkey PRIMARY KEY (account_id, counterpart),
  constraint ledger_sealed_totals_account_id_fkey FOREIGN KEY (account_id) REFERENCES ledger_accounts(id)
);

create table ledger_seals (
  seq bigint not null,
  hash text not null,
  sealed_at timestamp with time zone not null default now(),
  constraint ledger_seals_pkey PRIMARY KEY (seq),
  constraint ledger_seals_hash_sha256 CHECK (hash ~ '^[0-9a-f]{64}$'::text),
  constraint ledger_seals_seq_fkey FOREIGN KEY (seq) REFERENCES ledger_transfers(seq)
);

create table ledger_transfers (
  seq bigint not null generated always as identity,
  id uuid not null default uuidv7(),
  debit_account_id text not null,
  credit_account_id text not null,
  amount bigint not null,
  kind text not null,
  description text not null,
  refs jsonb not null,
  hold_id uuid,
  idempotency_key text,
  created_at timestamp with time zone not null default now(),
  given bigint not null default 0,
  constraint ledger_transfers_pkey PRIMARY KEY (seq),
  constraint ledger_transfers_hold_id_key UNIQUE (hold_id),
  constraint ledger_transfers_id_key UNIQUE (id),
  constraint ledger_transfers_idempotency_key_key UNIQUE (idempotency_key),
  constraint ledger_transfers_accounts_differ CHECK (debit_account_id <> credit_account_id),
  constraint ledger_transfers_amount_positive CHECK (amount > 0),
  constraint ledger_transfers_given_not_sent CHECK (given = 0 OR NOT (debit_account_id ~~ 'user:%'::text AND credit_account_id ~~ 'user:%'::text)),
  constraint ledger_transfers_given_within_amount CHECK (given >= 0 AND given <= amount),
  constraint ledger_transfers_kind_known CHECK (kind = ANY (ARRAY['grant'::text, 'purchase'::text, 'transfer'::text, 'charge'::text, 'refund'::text, 'expiry'::text, 'chargeback'::text])),
  constraint ledger_transfers_refs_object CHECK (jsonb_typeof(refs) = 'object'::text),
  constraint ledger_transfers_credit_account_id_fkey FOREIGN KEY (credit_account_id) REFERENCES ledger_accounts(id),
  constraint ledger_transfers_debit_account_id_fkey FOREIGN KEY (debit_account_id) REFERENCES ledger_accounts(id),
  constraint ledger_transfers_hold_id_fkey FOREIGN KEY (hold_id) REFERENCES ledger_holds(id)
);
CREATE INDEX ledger_transfers_by_credit ON public.ledger_transfers USING btree (credit_account_id, created_at, seq);
CREATE INDEX ledger_transfers_by_debit ON public.ledger_transfers USING btree (debit_account_id, created_at, seq);
CREATE INDEX ledger_transfers_by_key ON public.ledger_transfers USING btree (debit_account_id, ((refs ->> 'key_id'::text)), created_at, seq) WHERE ((refs ->> 'key_id'::text) IS NOT NULL);
CREATE INDEX ledger_transfers_refunds ON public.ledger_transfers USING btree (credit_account_id, created_at, seq) WHERE (kind = 'refund'::text);
CREATE INDEX ledger_transfers_sent ON public.ledger_transfers USING btree (seq) WHERE (kind = 'transfer'::text);
CREATE INDEX ledger_transfers_sent_by ON public.ledger_transfers USING btree (debit_account_id, created_at, seq) WHERE (kind = 'transfer'::text);

create table ledger_verifications (
  id bigint not null generated always as identity,
  seq bigint not null,
  hash text not null,
  totals_digest text not null,
  verified_at timestamp with time zone not null default now(),
  constraint ledger_verifications_pkey PRIMARY KEY (id),
  constraint ledger_verifications_seq_fkey FOREIGN KEY (seq) REFERENCES ledger_seals(seq)
);
CREATE INDEX ledger_verifications_by_seal ON public.ledger_verifications USING btree (seq);

create table licence_acceptances (
  user_id text not null,
  licence text not null,
  version text not null,
  accepted_at timestamp with time zone not null,
  constraint licence_acceptances_pkey PRIMARY KEY (user_id, licence, version),
  constraint licence_acceptances_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);

create table low_balance_look (
  single boolean not null default true,
  limit_micro bigint not null,
  seq bigint not null,
  constraint low_balance_look_pkey PRIMARY KEY (single),
  constraint low_balance_look_single_check CHECK (single)
);

create table low_balance_watch (
  user_id text not null,
  constraint low_balance_watch_pkey PRIMARY KEY (user_id),
  constraint low_balance_watch_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

create table machines (
  id uuid not null,
  name text not null,
  host text not null,
  driver text not null,
  offer jsonb,
  holds_blobs boolean not null,
  secret_check bytea not null,
  started_at timestamp with time zone not null,
  seen_at timestamp with time zone,
  constraint machines_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX machines_blob_holder ON public.machines USING btree (holds_blobs) WHERE holds_blobs;

create table model_servers (
  id uuid not null default gen_random_uuid(),
  engine text not null,
  files_sha256 text not null,
  base_files jsonb not null,
  accelerator text,
  accelerator_count integer not null,
  workload_id uuid,
  next_workload_id uuid,
  starter_asset_id uuid,
  starter_name text,
  starter_requested_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  kind text not null,
  deployment_id uuid,
  replica integer not null default 1,
  starter_revision_id uuid,
  failed_starts integer not null default 0,
  constraint model_servers_pkey PRIMARY KEY (id),
  constraint model_servers_key UNIQUE NULLS NOT DISTINCT (kind, engine, files_sha256, accelerator, accelerator_count, deployment_id, replica),
  constraint model_servers_starter_name_key UNIQUE (starter_name),
  constraint model_servers_own_check CHECK (deployment_id IS NULL OR starter_name IS NULL),
  constraint model_servers_replica_check CHECK (replica >= 1 AND replica <= 8),
  constraint model_servers_replica_check1 CHECK (deployment_id IS NOT NULL OR replica = 1),
  constraint model_servers_starter_check CHECK ((starter_asset_id IS NULL) = (starter_name IS NULL)),
  constraint model_servers_deployment_id_fkey FOREIGN KEY (deployment_id) REFERENCES deployments(id) DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX model_servers_by_deployment ON public.model_servers USING btree (deployment_id, replica) WHERE (deployment_id IS NOT NULL);
CREATE INDEX model_servers_next_workload ON public.model_servers USING btree (next_workload_id) WHERE (next_workload_id IS NOT NULL);
CREATE INDEX model_servers_workload ON public.model_servers USING btree (workload_id) WHERE (workload_id IS NOT NULL);

create table notifications (
  id uuid not null default uuidv7(),
  user_id text not null,
  kind text not null,
  data jsonb not null,
  created_at timestamp with time zone not null default now(),
  read_at timestamp with time zone,
  constraint notifications_pkey PRIMARY KEY (id),
  constraint notifications_data_check CHECK (jsonb_typeof(data) = 'object'::text),
  constraint notifications_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX notifications_by_time ON public.notifications USING btree (created_at);
CREATE INDEX notifications_by_user ON public.notifications USING btree (user_id, id DESC);
CREATE INDEX notifications_unread ON public.notifications USING btree (user_id, kind, ((data ->> 'sender'::text))) WHERE (read_at IS NULL);

create table onboarding_steps (
  user_id text not null,
  step text not null,
  completed_at timestamp with time zone not null default now(),
  constraint onboarding_steps_pkey PRIMARY KEY (user_id, step),
  constraint onboarding_steps_step_check CHECK (step = ANY (ARRAY['create_dataset'::text, 'create_model'::text, 'fine_tune_model'::text])),
  constraint onboarding_steps_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

create table outgoing_mails (
  id uuid not null,
  recipient text not null,
  subject text not null,
  body text not null,
  created_at timestamp with time zone not null default now(),
  constraint outgoing_mails_pkey PRIMARY KEY (id)
);

create table preparations (
  id preparation_id not null,
  state preparation_state not null,
  detail text not null,
  progress real,
  fingerprint text,
  updated_at timestamp with time zone not null,
  machine_id uuid,
  constraint preparations_machine UNIQUE NULLS NOT DISTINCT (machine_id, id),
  constraint preparations_progress_check CHECK (progress >= 0::double precision AND progress <= 1::double precision),
  constraint preparations_machine_id_fkey FOREIGN KEY (machine_id) REFERENCES machines(id)
);

create table price_changes (
  id uuid not null default uuidv7(),
  price_id text not null,
  unit_price_micro bigint not null,
  previous_micro bigint not null,
  valid_from timestamp with time zone not null,
  changed_by text not null,
  created_at timestamp with time zone not null,
  withdrawn_at timestamp with time zone,
  constraint price_changes_pkey PRIMARY KEY (id),
  constraint price_changes_previous_positive CHECK (previous_micro > 0),
  constraint price_changes_unit_price_positive CHECK (unit_price_micro > 0),
  constraint price_changes_withdrawn_before CHECK (withdrawn_at IS NULL OR withdrawn_at < valid_from),
  constraint price_changes_changed_by_fkey FOREIGN KEY (changed_by) REFERENCES users(id)
);
CREATE INDEX price_changes_by_user ON public.price_changes USING btree (changed_by);
CREATE INDEX price_changes_in_force ON public.price_changes USING btree (price_id, valid_from DESC, id DESC) WHERE (withdrawn_at IS NULL);

create table processes (
  id uuid not null,
  machine_id uuid not null,
  roles text[] not null,
  since timestamp with time zone not null,
  seen_at timestamp with time zone not null,
  left_at timestamp with time zone,
  url text,
  constraint processes_pkey PRIMARY KEY (id),
  constraint processes_machine_id_fkey FOREIGN KEY (machine_id) REFERENCES machines(id)
);

create table purchases (
  id uuid not null default uuidv7(),
  user_id text not null,
  usd_cents integer not null,
  amount_micro bigint not null,
  session_id text,
  payment_id text,
  status text not null default 'open'::text,
  reversed_cents integer not null default 0,
  receipt_url text,
  version integer not null default 0,
  created_at timestamp with time zone not null default now(),
  paid_at timestamp with time zone,
  checked_at timestamp with time zone,
  constraint purchases_pkey PRIMARY KEY (id),
  constraint purchases_payment_id_key UNIQUE (payment_id),
  constraint purchases_session_id_key UNIQUE (session_id),
  constraint purchases_amount_positive CHECK (amount_micro > 0),
  constraint purchases_reversed_within CHECK (reversed_cents >= 0 AND reversed_cents <= usd_cents),
  constraint purchases_status_known CHECK (status = ANY (ARRAY['open'::text, 'paid'::text, 'failed'::text, 'expired'::text, 'refused'::text])),
  constraint purchases_usd_cents_positive CHECK (usd_cents > 0),
  constraint purchases_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE INDEX purchases_by_user ON public.purchases USING btree (user_id, id);
CREATE INDEX purchases_open ON public.purchases USING btree (created_at) WHERE (status = 'open'::text);
CREATE INDEX purchases_paid ON public.purchases USING btree (paid_at) WHERE (status = 'paid'::text);

create table readiness_checks (
  id boolean not null,
  checked_at timestamp with time zone not null default now(),
  constraint readiness_checks_pkey PRIMARY KEY (id),
  constraint readiness_checks_id_check CHECK (id)
);

create table recent_changes (
  user_id text not null,
  topic text not null,
  thing_id text not null,
  at timestamp with time zone not null,
  constraint recent_changes_pkey PRIMARY KEY (user_id, topic, thing_id)
);

create table referral_codes (
  user_id text not null,
  code text not null,
  created_at timestamp with time zone not null default now(),
  constraint referral_codes_pkey PRIMARY KEY (user_id),
  constraint referral_codes_code_key UNIQUE (code),
  constraint referral_codes_code_check CHECK (code ~ '^[a-z0-9]{8}$'::text),
  constraint referral_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

create table referrals (
  invited_user_id text not null,
  inviter_user_id text not null,
  bonus_micro bigint not null,
  created_at timestamp with time zone not null,
  constraint referrals_pkey PRIMARY KEY (invited_user_id),
  constraint referrals_bonus_micro_check CHECK (bonus_micro >= 0),
  constraint referrals_check CHECK (invited_user_id <> inviter_user_id),
  constraint referrals_invited_user_id_fkey FOREIGN KEY (invited_user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint referrals_inviter_user_id_fkey FOREIGN KEY (inviter_user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX referrals_by_inviter ON public.referrals USING btree (inviter_user_id, created_at DESC);

create table restricted_models (
  id text not null,
  name text not null,
  family text not null,
  tags text[] not null,
  details text not null,
  asset_id uuid,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  search_text text not null generated always as (asset_search_text(id, name, family, NULL::text, tags)) stored,
  constraint restricted_models_pkey PRIMARY KEY (id),
  constraint restricted_models_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON DELETE SET NULL
);
CREATE INDEX restricted_models_asset ON public.restricted_models USING btree (asset_id);

create table revisions (
  id uuid not null default gen_random_uuid(),
  asset_id uuid not null,
  number integer not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint revisions_pkey PRIMARY KEY (id),
  constraint revisions_asset_id_number_key UNIQUE (asset_id, number),
  constraint revisions_number_check CHECK (number > 0),
  constraint revisions_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON DELETE CASCADE
);

create table runs (
  id uuid not null,
  user_id text not null,
  title text not null,
  model_asset_id uuid not null,
  base_asset_id uuid not null,
  base_revision_id uuid not null,
  base_title text not null,
  dataset_asset_id uuid not null,
  dataset_revision_id uuid not null,
  dataset_title text not null,
  file_name text not null,
  parameters jsonb not null,
  price_id text not null,
  devices integer not null,
  quote jsonb not null,
  work_flops double precision not null,
  hold_id uuid not null,
  held_micro bigint not null,
  hold_expires_at timestamp with time zone not null,
  settled_micro bigint not null default 0,
  settled_seconds double precision not null default 0,
  charged_micro bigint,
  summary jsonb,
  created_at timestamp with time zone not null,
  slowdown double precision not null default 1,
  resumes integer not null default 0,
  ceiling_micro bigint not null,
  stop_reason text,
  key_id uuid,
  unit_price_micro bigint not null,
  unpaid_seconds double precision not null default 0,
  constraint runs_pkey PRIMARY KEY (id),
  constraint runs_ceiling_positive CHECK (ceiling_micro > 0),
  constraint runs_charged_micro_check CHECK (charged_micro >= 0),
  constraint runs_devices_check CHECK (devices > 0),
  constraint runs_held_micro_check CHECK (held_micro > 0),
  constraint runs_settled_micro_check CHECK (settled_micro >= 0),
  constraint runs_settled_seconds_check CHECK (settled_seconds >= 0::double precision),
  constraint runs_slowdown_check CHECK (slowdown >= 1::double precision),
  constraint runs_stop_reason_known CHECK (stop_reason = ANY (ARRAY['ceiling'::text, 'credits'::text, 'budget'::text])),
  constraint runs_unit_price_positive CHECK (unit_price_micro > 0),
  constraint runs_unpaid_seconds_check CHECK (unpaid_seconds >= 0::double precision),
  constraint runs_hold_id_fkey FOREIGN KEY (hold_id) REFERENCES ledger_holds(id),
  constraint runs_id_fkey FOREIGN KEY (id) REFERENCES workloads(id),
  constraint runs_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE INDEX runs_by_model ON public.runs USING btree (model_asset_id);
CREATE INDEX runs_by_price ON public.runs USING btree (price_id, created_at DESC);
CREATE INDEX runs_by_title ON public.runs USING btree (user_id, lower(title), id);
CREATE INDEX runs_by_user ON public.runs USING btree (user_id, created_at DESC, id DESC);

create table sessions (
  id text not null,
  user_id text not null,
  token text not null,
  expires_at timestamp with time zone not null,
  ip_address text,
  user_agent text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint sessions_pkey PRIMARY KEY (id),
  constraint sessions_token_key UNIQUE (token),
  constraint sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX sessions_user_id ON public.sessions USING btree (user_id);

create table sign_in_methods (
  id text not null,
  user_id text not null,
  provider_id text not null,
  account_id text not null,
  password text,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamp with time zone,
  refresh_token_expires_at timestamp with time zone,
  scope text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint sign_in_methods_pkey PRIMARY KEY (id),
  constraint sign_in_methods_provider_id_account_id_key UNIQUE (provider_id, account_id),
  constraint sign_in_methods_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX sign_in_methods_user_id ON public.sign_in_methods USING btree (user_id);

create table training_configurations (
  id uuid not null default gen_random_uuid(),
  user_id text not null,
  name text not null,
  payload jsonb not null,
  created_at timestamp with time zone not null default now(),
  constraint training_configurations_pkey PRIMARY KEY (id),
  constraint training_configurations_user_id_name_key UNIQUE (user_id, name),
  constraint training_configurations_name_check CHECK (length(name) >= 1 AND length(name) <= 100),
  constraint training_configurations_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);

create table usage_events (
  day date not null,
  window_id uuid not null,
  n bigint not null,
  id uuid not null,
  at timestamp with time zone not null,
  amount_micro bigint not null,
  quantities jsonb not null,
  constraint usage_events_pkey PRIMARY KEY (window_id, n, day),
  constraint usage_events_amount_micro_check CHECK (amount_micro >= 0),
  constraint usage_events_quantities_check CHECK (jsonb_typeof(quantities) = 'object'::text)
);

create table usage_leaders (
  id uuid not null,
  lease_until timestamp with time zone not null,
  constraint usage_leaders_pkey PRIMARY KEY (id)
);

create table usage_windows (
  id uuid not null,
  user_id text not null,
  key_id uuid,
  source text not null,
  leader_id uuid not null,
  hold_id uuid not null,
  events bigint not null default 0,
  used_micro bigint not null default 0,
  quantities jsonb not null default '{}'::jsonb,
  digest bytea not null default '\x'::bytea,
  opened_at timestamp with time zone not null,
  closed_at timestamp with time zone,
  constraint usage_windows_pkey PRIMARY KEY (id),
  constraint usage_windows_hold_id_key UNIQUE (hold_id),
  constraint usage_windows_events_check CHECK (events >= 0),
  constraint usage_windows_used_micro_check CHECK (used_micro >= 0),
  constraint usage_windows_hold_id_fkey FOREIGN KEY (hold_id) REFERENCES ledger_holds(id),
  constraint usage_windows_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE INDEX usage_windows_by_user ON public.usage_windows USING btree (user_id, opened_at, id);
CREATE INDEX usage_windows_open ON public.usage_windows USING btree (leader_id) WHERE (closed_at IS NULL);

create table user_storage (
  user_id text not null,
  bytes bigint not null default 0,
  constraint user_storage_pkey PRIMARY KEY (user_id),
  constraint user_storage_bytes_check CHECK (bytes >= 0),
  constraint user_storage_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

create table users (
  id text not null,
  name text not null,
  username text not null,
  email text not null,
  email_verified boolean not null default false,
  image text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  deleted_at timestamp with time zone,
  purged_at timestamp with time zone,
  onboarding_dismissed_at timestamp with time zone,
  is_returning boolean not null default false,
  constraint users_pkey PRIMARY KEY (id),
  constraint users_email_key UNIQUE (email),
  constraint users_username_key UNIQUE (username),
  constraint users_email_check CHECK (email = lower(email)),
  constraint users_name_check CHECK (length(name) >= 1 AND length(name) <= 200),
  constraint users_username_check CHECK (username ~ '^[a-z0-9_-]{3,30}$'::text)
);
CREATE INDEX users_by_creation ON public.users USING btree (created_at, id);
CREATE INDEX users_by_words ON public.users USING gin (username gin_trgm_ops, email gin_trgm_ops, lower(name) gin_trgm_ops) WITH (gin_pending_list_limit='256');
CREATE INDEX users_to_purge ON public.users USING btree (deleted_at) WHERE ((deleted_at IS NOT NULL) AND (purged_at IS NULL));

create table verifications (
  id text not null,
  identifier text not null,
  value text not null,
  expires_at timestamp with time zone not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint verifications_pkey PRIMARY KEY (id)
);
CREATE INDEX verifications_identifier ON public.verifications USING btree (identifier);

create table workload_artefacts (
  workload_id uuid not null,
  path text not null,
  sha256 text not null,
  size_bytes bigint not null,
  stored_at timestamp with time zone not null,
  constraint workload_artefacts_pkey PRIMARY KEY (workload_id, path),
  constraint workload_artefacts_sha256_fkey FOREIGN KEY (sha256) REFERENCES blobs(sha256),
  constraint workload_artefacts_workload_id_fkey FOREIGN KEY (workload_id) REFERENCES workloads(id) ON DELETE CASCADE
);
CREATE INDEX workload_artefacts_sha256 ON public.workload_artefacts USING btree (sha256);

create table workload_inputs (
  workload_id uuid not null,
  sha256 text not null,
  size_bytes bigint not null,
  constraint workload_inputs_pkey PRIMARY KEY (workload_id, sha256),
  constraint workload_inputs_workload_id_fkey FOREIGN KEY (workload_id) REFERENCES workloads(id) ON DELETE CASCADE
);

create table workload_logs (
  workload_id uuid not null,
  id bigint not null generated always as identity,
  at timestamp with time zone not null,
  line text not null,
  constraint workload_logs_pkey PRIMARY KEY (workload_id, id),
  constraint workload_logs_workload_id_fkey FOREIGN KEY (workload_id) REFERENCES workloads(id) ON DELETE CASCADE
);

create table workload_metrics (
  workload_id uuid not null,
  step integer not null,
  at timestamp with time zone not null,
  values jsonb not null,
  constraint workload_metrics_pkey PRIMARY KEY (workload_id, step),
  constraint workload_metrics_workload_id_fkey FOREIGN KEY (workload_id) REFERENCES workloads(id) ON DELETE CASCADE
);

create table workloads (
  id uuid not null default gen_random_uuid(),
  user_id text,
  behaviour text not null,
  kind text not null,
  title text not null,
  spec jsonb not null,
  accelerator text,
  accelerator_count integer not null,
  expected_seconds double precision,
  wanted text not null default 'running'::text,
  state text not null default 'queued'::text,
  reason text not null default ''::text,
  devices integer[],
  attempt integer not null default 0,
  token_sha256 bytea,
  interrupted boolean not null default false,
  restarts integer not null default 0,
  failures integer not null default 0,
  accepted_seq integer not null default 0,
  phase text,
  done double precision,
  total double precision,
  unit text,
  remaining_seconds double precision,
  step integer not null default 0,
  steps_total integer not null default 0,
  base_url text,
  outcome jsonb,
  active_seconds double precision not null default 0,
  saved_seconds double precision not null default 0,
  lock_token uuid,
  locked_until timestamp with time zone,
  check_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  queued_at timestamp with time zone not null,
  not_before timestamp with time zone not null,
  attempt_started_at timestamp with time zone,
  started_at timestamp with time zone,
  ready_at timestamp with time zone,
  last_report_at timestamp with time zone,
  stop_requested_at timestamp with time zone,
  stop_reason text,
  ended_at timestamp with time zone,
  files_removed_at timestamp with time zone,
  server_key text,
  machine_id uuid,
  output_cursor text,
  checkpoint_seconds double precision not null default 0,
  lost_machine_id uuid,
  lost_seconds double precision,
  phase_counted boolean not null default true,
  drain_seconds integer not null default 0,
  server_url text,
  killed_for text,
  spec_kind text generated always as ((spec ->> 'kind'::text)) stored,
  spec_engine text generated always as ((spec ->> 'engine'::text)) stored,
  adapter_names text[] not null generated always as (spec_adapter_names(spec)) stored,
  owner_gone boolean not null default false,
  constraint workloads_pkey PRIMARY KEY (id),
  constraint workloads_accelerator_count_check CHECK (accelerator_count >= 0 AND accelerator_count <= 8),
  constraint workloads_behaviour_check CHECK (behaviour = ANY (ARRAY['run'::text, 'deployment'::text])),
  constraint workloads_check CHECK ((ended_at IS NOT NULL) = (state = ANY (ARRAY['completed'::text, 'stopped'::text, 'failed'::text]))),
  constraint workloads_check1 CHECK ((accelerator IS NULL) = (accelerator_count = 0)),
  constraint workloads_check2 CHECK ((wanted = 'stopped'::text) = (stop_requested_at IS NOT NULL)),
  constraint workloads_killed_for_known CHECK (killed_for = ANY (ARRAY['lingering'::text, 'silent'::text, 'loading'::text, 'unreachable'::text, 'overdue'::text])),
  constraint workloads_state_check CHECK (state = ANY (ARRAY['queued'::text, 'scheduling'::text, 'pulling'::text, 'starting'::text, 'ready'::text, 'degraded'::text, 'stopping'::text, 'completed'::text, 'stopped'::text, 'failed'::text])),
  constraint workloads_unit_check CHECK (unit = ANY (ARRAY['steps'::text, 'bytes'::text, 'examples'::text])),
  constraint workloads_wanted_check CHECK (wanted = ANY (ARRAY['running'::text, 'stopped'::text])),
  constraint workloads_lost_machine_id_fkey FOREIGN KEY (lost_machine_id) REFERENCES machines(id),
  constraint workloads_machine_id_fkey FOREIGN KEY (machine_id) REFERENCES machines(id),
  constraint workloads_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE INDEX workloads_completed_with_files ON public.workloads USING btree (id) WHERE ((state = 'completed'::text) AND (files_removed_at IS NULL));
CREATE INDEX workloads_due ON public.workloads USING btree (check_at) WHERE (ended_at IS NULL);
CREATE INDEX workloads_owner_gone_with_files ON public.workloads USING btree (id) WHERE (owner_gone AND (ended_at IS NOT NULL) AND (files_removed_at IS NULL));
CREATE INDEX workloads_owner_not_gone ON public.workloads USING btree (user_id) WHERE (NOT owner_gone);
CREATE INDEX workloads_servers_ended ON public.workloads USING btree (ended_at) WHERE ((behaviour = 'deployment'::text) AND (files_removed_at IS NOT NULL));
CREATE INDEX workloads_servers_with_files ON public.workloads USING btree (ended_at) WHERE ((behaviour = 'deployment'::text) AND (ended_at IS NOT NULL) AND (files_removed_at IS NULL));
CREATE INDEX workloads_with_files ON public.workloads USING btree (ended_at) WHERE ((ended_at IS NOT NULL) AND (files_removed_at IS NULL));

create table x_accounts (
  user_id text not null,
  x_user_id text not null,
  username text not null,
  access_token bytea not null,
  refresh_token bytea not null,
  expires_at timestamp with time zone not null,
  connected_at timestamp with time zone not null,
  constraint x_accounts_pkey PRIMARY KEY (user_id),
  constraint x_accounts_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

create table x_posts (
  user_id text not null,
  claimed_at timestamp with time zone not null,
  post_id text,
  constraint x_posts_pkey PRIMARY KEY (user_id),
  constraint x_posts_post_id_check CHECK (post_id ~ '^[0-9]+$'::text),
  constraint x_posts_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

create view generation_queue as
 SELECT id,
    user_id,
    queue,
    turn,
    row_number() OVER (PARTITION BY queue ORDER BY turn, served_at NULLS FIRST, id) - 1 AS "position"
   FROM ( SELECT waiting.id,
            waiting.user_id,
            waiting.queue,
            generation_turns.served_at,
            row_number() OVER (PARTITION BY waiting.queue, waiting.user_id ORDER BY waiting.id) + running.count AS turn
           FROM generations waiting
             CROSS JOIN LATERAL ( SELECT count(*) AS count
                   FROM generations other
                  WHERE other.user_id = waiting.user_id AND other.queue = waiting.queue AND (other.state = ANY (ARRAY['starting'::text, 'running'::text])) AND other.ended_at IS NULL) running
             LEFT JOIN generation_turns USING (user_id, queue)
          WHERE waiting.state = 'queued'::text AND waiting.ended_at IS NULL) taken;

create view serving_workloads as
 SELECT id,
    state,
    reason,
    phase,
    base_url,
    adapter_names,
    server_key
   FROM workloads
  WHERE behaviour = 'deployment'::text;

CREATE OR REPLACE FUNCTION public.add_blob_owners(sha256s text[], kinds text[], ids text[], sizes bigint[])
 RETURNS void
 LANGUAGE sql
AS $function$
  insert into blob_owners (sha256, owner_kind, owner_id, size_bytes, refs)
  select sha256, kind, id, max(size_bytes), count(*)
  from unnest(sha256s, kinds, ids, sizes) as added (sha256, kind, id, size_bytes)
  group by sha256, kind, id
  order by sha256, kind, id
  on conflict (sha256, owner_kind, owner_id) do update set refs = blob_owners.refs + excluded.refs
$function$;

CREATE OR REPLACE FUNCTION public.asset_search_text(id text, title text, family text, base_model_type text, tags text[])
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select lower(concat(chr(10), concat_ws(chr(10), title, id, nullif(family, ''), base_model_type,
    nullif(array_to_string(tags, chr(10)), '')), chr(10)))
$function$;

CREATE OR REPLACE FUNCTION public.budget_period_start(p_period text, p_now timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
AS $function$
  select case when p_period in ('day', 'month') then date_trunc(p_period, p_now, 'UTC') else '-infinity' end
$function$;

CREATE OR REPLACE FUNCTION public.budget_renews_at(p_period text, p_now timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
AS $function$
  select case when p_period in ('day', 'month')
    then (date_trunc(p_period, p_now at time zone 'UTC') + ('1 ' || p_period)::interval) at time zone 'UTC'
  end
$function$;

CREATE OR REPLACE FUNCTION public.count_hold_for_key()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  v_held bigint := case new.status when 'pending' then new.amount else 0 end;
  v_spent bigint := coalesce(new.settled_amount, 0);
  v_key api_keys;
begin
  if tg_op = 'UPDATE' then
    v_held := v_held - case old.status when 'pending' then old.amount else 0 end;
    v_spent := v_spent - coalesce(old.settled_amount, 0);
  end if;
  update api_keys k set
    held_micro = k.held_micro + v_held,
    spent_micro = v_spent + case when k.counted_since < budget_period_start(k.budget_period, now()) then 0 else k.spent_micro end,
    counted_since = greatest(k.counted_since, budget_period_start(k.budget_period, now()))
  where k.id = (new.refs ->> 'key_id')::uuid
  returning * into v_key;
  if v_held > 0 and v_key.spent_micro + v_key.held_micro > v_key.budget_micro then
    raise exception 'the budget of the key does not cover the hold' using errcode = 'BK402',
      detail = jsonb_build_object('required', v_held::text, 'key_id', v_key.id, 'key_name', v_key.name,
        'amount', v_key.budget_micro::text, 'period', v_key.budget_period,
        'renews_at', budget_renews_at(v_key.budget_period, now()))::text;
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.count_user_storage()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'INSERT' then
    insert into user_storage (user_id, bytes)
    select owner_id, sum(size_bytes)::bigint from changed where owner_kind = 'user'
    group by owner_id order by owner_id
    on conflict (user_id) do update set bytes = user_storage.bytes + excluded.bytes;
  else
    update user_storage s set bytes = s.bytes - freed.bytes
    from (
      select owner_id, sum(size_bytes)::bigint as bytes from changed where owner_kind = 'user' group by owner_id
    ) as freed
    where s.user_id = freed.owner_id;
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.delete_files_of_asset()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from asset_files where asset_id = old.id;
  return old;
end $function$;

CREATE OR REPLACE FUNCTION public.forget_column_statistics()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from column_statistics where sha256 = old.sha256;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_charge_back(p_user_id text, p_amount bigint, p_description text, p_refs jsonb, p_idempotency_key text, OUT outcome text, OUT transfer_id uuid, OUT collected bigint, OUT owed bigint)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
begin
  perform ledger_open_accounts(array[p_user_id]);
  insert into ledger_accounts (id, kind, owner_user_id) values ('receivable:' || p_user_id, 'receivable', p_user_id)
  on conflict do nothing;
  select t.outcome, t.transfer_id into outcome, transfer_id
  from ledger_transfer('receivable:' || p_user_id, 'payments', p_amount, 'chargeback', p_description, p_refs,
    p_idempotency_key) t;
  collected := case outcome when 'ok' then ledger_collect(p_user_id) else 0 end;
  owed := ledger_owed(p_user_id);
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_collect(p_user_id text)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
declare
  v_account text := 'user:' || p_user_id;
  v_receivable text := 'receivable:' || p_user_id;
  v_sendable bigint;
  v_owed bigint;
begin
  select l.sendable into v_sendable from ledger_lock(v_account, v_receivable) l;
  -- Under the lock: nobody else collects from him.
  v_owed := least(ledger_owed(p_user_id), v_sendable);
  if v_owed > 0 then
    update ledger_accounts set debits_posted = debits_posted + v_owed where id = v_account;
    insert into ledger_transfers (debit_account_id, credit_account_id, amount, kind, description, refs)
    values (v_account, v_receivable, v_owed, 'chargeback', 'Payment that was taken back', '{}');
  end if;
  return greatest(coalesce(v_owed, 0), 0);
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_expire_given(p_now timestamp with time zone, p_limit integer)
 RETURNS TABLE(account_id text, amount bigint)
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
begin
  for account_id, amount in
    select a.id, a.given - a.debits_pending
    from ledger_accounts a
    where a.kind = 'user' and a.given > a.debits_pending
      and a.id in (select g.account_id from ledger_given g where g.expires_at <= p_now and g.remaining > 0)
    order by a.id
    limit p_limit
    for no key update
  loop
    amount := least(amount, (
      select sum(g.remaining) from ledger_given g
      where g.account_id = ledger_expire_given.account_id and g.expires_at <= p_now
    ));
    continue when amount = 0;
    perform ledger_transfer(account_id, 'grants', amount, 'expiry', 'Given credits that expired', '{}', null);
    return next;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_expire_holds(p_now timestamp with time zone, p_limit integer)
 RETURNS TABLE(hold_id uuid, debit_account_id text)
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
declare
  v_holds uuid[];
begin
  select array_agg(id) into v_holds from (
    select id from ledger_holds
    where status = 'pending' and expires_at <= p_now
    order by expires_at
    limit p_limit
    for no key update skip locked
  ) expired;

  perform from ledger_accounts
  where kind = 'user' and id in (select debit_account_id from ledger_holds where id = any (v_holds))
  order by id
  for no key update;

  perform from api_keys
  where id in (select (refs ->> 'key_id')::uuid from ledger_holds where id = any (v_holds))
  order by for_web_app desc, id
  for no key update;

  update ledger_accounts a set debits_pending = a.debits_pending - expired.amount
  from (
    select debit_account_id, sum(amount)::bigint as amount
    from ledger_holds where id = any (v_holds) group by debit_account_id
  ) expired
  where a.id = expired.debit_account_id and a.kind = 'user';

  return query
    update ledger_holds set status = 'released', ended_at = now()
    where id = any (v_holds)
    returning id, debit_account_id;
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_extend_hold(p_hold_id uuid, p_amount bigint, p_expires_at timestamp with time zone, OUT outcome text, OUT missing bigint, OUT available bigint, OUT debit_account_id text)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  v_hold ledger_holds;
begin
  select * into v_hold from ledger_holds where id = p_hold_id for no key update;
  if not found then
    outcome := 'not_found';
    return;
  end if;
  if v_hold.status <> 'pending' then
    outcome := 'ended';
    return;
  end if;
  debit_account_id := v_hold.debit_account_id;

  missing := greatest(p_amount - v_hold.amount, 0);
  if missing > 0 then
    select l.available into available from ledger_lock(v_hold.debit_account_id, v_hold.credit_account_id) l;
    if available < missing then
      outcome := 'insufficient_funds';
      return;
    end if;
    update ledger_accounts set debits_pending = debits_pending + missing
    where id = v_hold.debit_account_id and kind = 'user';
  end if;

  update ledger_holds set
    amount = greatest(amount, p_amount),
    expires_at = greatest(expires_at, p_expires_at)
  where id = p_hold_id;
  outcome := 'ok';
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_grow_hold(p_hold_id uuid, p_by bigint, p_expires_at timestamp with time zone, OUT outcome text, OUT amount bigint, OUT available bigint, OUT debit_account_id text)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  v_amount bigint;
begin
  select h.amount + p_by into v_amount from ledger_holds h where h.id = p_hold_id for no key update;
  select e.outcome, e.available, e.debit_account_id into outcome, available, debit_account_id
  from ledger_extend_hold(p_hold_id, v_amount, p_expires_at) e;
  if outcome = 'ok' then amount := v_amount; end if;
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_hold(p_debit text, p_credit text, p_amount bigint, p_kind text, p_description text, p_refs jsonb, p_expires_at timestamp with time zone, p_idempotency_key text, OUT outcome text, OUT hold_id uuid, OUT available bigint)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
begin
  select l.available into available from ledger_lock(p_debit, p_credit) l;

  loop
    select h.id,
      case when (h.debit_account_id, h.credit_account_id, h.amount_asked, h.kind) = (p_debit, p_credit, p_amount, p_kind)
        then 'replayed' else 'idempotency_conflict' end
    into hold_id, outcome
    from ledger_holds h where h.idempotency_key = p_idempotency_key;
    if found then return; end if;

    if available < p_amount then
      outcome := 'insufficient_funds';
      return;
    end if;

    insert into ledger_holds as h
      (debit_account_id, credit_account_id, amount, amount_asked, kind, description, refs, expires_at, idempotency_key)
    values (p_debit, p_credit, p_amount, p_amount, p_kind, p_description, p_refs, p_expires_at, p_idempotency_key)
    on conflict (idempotency_key) do nothing
    returning h.id into hold_id;
    exit when found;
  end loop;

  update ledger_accounts set debits_pending = debits_pending + p_amount where id = p_debit and kind = 'user';
  outcome := 'ok';
  available := available - p_amount;
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_lock(p_debit text, p_credit text, OUT available bigint, OUT sendable bigint, OUT given bigint)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  v_account record;
begin
  -- The transaction gets its id before its transfer gets a seq: the sealer relies on that order.
  perform pg_current_xact_id();
  if p_credit like 'user:%' and not exists (select from ledger_accounts where id = p_credit) then
    perform ledger_open_accounts(array[substr(p_credit, length('user:') + 1)]);
  end if;
  for v_account in
    select a.id, a.credits_posted - a.debits_posted as balance, a.debits_pending, a.given
    from ledger_accounts a
    where a.id in (p_debit, p_credit) and a.kind = 'user'
    order by a.id
    for no key update
  loop
    if v_account.id = p_debit then
      available := v_account.balance - v_account.debits_pending;
      sendable := v_account.balance - greatest(v_account.debits_pending, v_account.given);
      given := v_account.given;
    end if;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_open_accounts(p_user_ids text[])
 RETURNS void
 LANGUAGE sql
AS $function$
  insert into ledger_accounts (id, kind, owner_user_id, credits_posted, debits_posted, debits_pending, given)
  select 'user:' || id, 'user', id, 0, 0, 0, 0 from users where id = any (p_user_ids)
  order by id
  on conflict do nothing
$function$;

CREATE OR REPLACE FUNCTION public.ledger_owed(p_user_id text)
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce(sum(case debit_account_id when 'receivable:' || p_user_id then amount else -amount end), 0)::bigint
  from ledger_transfers
  where debit_account_id = 'receivable:' || p_user_id or credit_account_id = 'receivable:' || p_user_id
$function$;

CREATE OR REPLACE FUNCTION public.ledger_send(p_senders text[], p_recipients text[], p_amounts bigint[], p_keys text[], p_wait boolean, p_daily_max bigint DEFAULT NULL::bigint, p_key_ids uuid[] DEFAULT NULL::uuid[])
 RETURNS TABLE(outcome text, transfer_id uuid, available bigint, sendable bigint, recipient_id text)
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
#variable_conflict use_column
declare
  v_recipients text[];
  v_without_account text[];
  v_keys text[];
  -- What earlier calls with these keys moved, to whom, and whether it is what is asked for now.
  v_earlier uuid[];
  v_earlier_to text[];
  v_is_same boolean[];
  -- The users whose accounts are locked, by account id, and beside each what this call does to it.
  v_users text[];
  v_available bigint[];
  v_sendable bigint[]; -- below zero where more is owed
  v_owed bigint[];
  v_daily_left bigint[]; -- of what each may send within 24 hours; null where there is no limit
  v_debt record;
  v_paid bigint[];
  v_received bigint[];
  -- The places in the arrays of what is moved, and the ids of the transfers.
  v_moved integer[] := '{}';
  v_ids uuid[] := '{}';
  v_moved_keys text[] := '{}';
  v_from integer;
  v_to integer;
  v_twin integer; -- the place in v_moved
begin
  -- Before any seq, as in ledger_lock.
  perform pg_current_xact_id();

  select array_agg(r.id order by n),
    array_agg(r.id order by n) filter (where r.id is not null and a.id is null),
    array_agg('transfer-credits:' || asked.sender || ':' || asked.key order by n)
  into v_recipients, v_without_account, v_keys
  from unnest(p_senders, p_recipients, p_keys) with ordinality as asked (sender, recipient, key, n)
  left join lateral (
    select u.id from users u
    where (u.username = lower(asked.recipient) or u.email = lower(asked.recipient) or u.id = asked.recipient)
      and u.deleted_at is null
    limit 1
  ) r on true
  left join ledger_accounts a on a.kind = 'user' and a.owner_user_id = r.id;

  if v_without_account is not null then perform ledger_open_accounts(v_without_account); end if;

  if p_wait then
    select array_agg(owner_user_id), array_agg(balance - debits_pending),
      array_agg(balance - greatest(debits_pending, given))
    into v_users, v_available, v_sendable from (
      select owner_user_id, credits_posted - debits_posted as balance, debits_pending, given
      from ledger_accounts where kind = 'user' and owner_user_id = any (p_senders || v_recipients)
      order by id for no key update
    ) locked;
  else
    select array_agg(owner_user_id), array_agg(balance - debits_pending),
      array_agg(balance - greatest(debits_pending, given))
    into v_users, v_available, v_sendable from (
      select owner_user_id, credits_posted - debits_posted as balance, debits_pending, given
      from ledger_accounts where kind = 'user' and owner_user_id = any (p_senders || v_recipients)
      order by id for no key update skip locked
    ) locked;
  end if;
  -- Under the locks: whoever deletes an account holds them until the commit, so a recipient may be nobody by now.
  select array_agg(u.id order by n) into v_recipients
  from unnest(v_recipients) with ordinality as named (id, n)
  left join users u on u.id = named.id and u.deleted_at is null;

  v_paid := array_fill(0::bigint, array[coalesce(cardinality(v_users), 0)]);
  v_received := v_paid;

  -- What is owed is collected before anything is sent.
  v_owed := v_paid;
  for v_debt in
    select array_position(v_users, owner_user_id) as place, ledger_owed(owner_user_id) as owed
    from ledger_accounts
    where kind = 'receivable' and owner_user_id = any (p_senders) and owner_user_id = any (v_users)
  loop
    v_owed[v_debt.place] := v_debt.owed;
    v_sendable[v_debt.place] := v_sendable[v_debt.place] - v_debt.owed;
  end loop;

  -- Under the locks too: nobody else sends for them meanwhile.
  if p_daily_max is not null then
    select array_agg(p_daily_max - coalesce(sent.amount, 0) order by place)
    into v_daily_left
    from unnest(v_users) with ordinality as locked (user_id, place)
    left join lateral (
      select sum(t.amount)::bigint as amount from ledger_transfers t
      where t.debit_account_id = 'user:' || locked.user_id and t.kind = 'transfer'
        and t.created_at > now() - interval '24 hours'
    ) sent on locked.user_id = any (p_senders);
  end if;

  -- Under the locks: nobody can use these keys from here on.
  select array_agg(t.id order by n), array_agg(payee.owner_user_id order by n),
    array_agg(
      (t.debit_account_id, t.amount, t.kind) is not distinct from ('user:' || asked.sender, asked.amount, 'transfer')
        and (payee.owner_user_id is not distinct from asked.recipient or former.deleted_at is not null)
      order by n)
  into v_earlier, v_earlier_to, v_is_same
  from unnest(p_senders, v_recipients, p_amounts, v_keys) with ordinality as asked (sender, recipient, amount, key, n)
  left join ledger_transfers t on t.idempotency_key = asked.key
  left join ledger_accounts payee on payee.id = t.credit_account_id
  left join users former on former.id = payee.owner_user_id;

  for i in 1 .. cardinality(p_senders) loop
    recipient_id := v_recipients[i];
    transfer_id := null;
    v_from := array_position(v_users, p_senders[i]);
    v_to := array_position(v_users, recipient_id);
    available := v_available[v_from];
    sendable := greatest(v_sendable[v_from], 0);
    -- The same key may stand in one call twice.
    v_twin := case when v_keys[i] is not null then array_position(v_moved_keys, v_keys[i]) end;
    if v_twin is not null then
      v_earlier[i] := v_ids[v_twin];
      v_earlier_to[i] := v_recipients[v_moved[v_twin]];
      v_is_same[i] := (recipient_id, p_amounts[i])
        is not distinct from (v_recipients[v_moved[v_twin]], p_amounts[v_moved[v_twin]]);
    end if;

    if v_from is null or (recipient_id is not null and v_to is null) then
      outcome := 'busy';
    elsif v_earlier[i] is not null then
      transfer_id := v_earlier[i];
      outcome := case when v_is_same[i] then 'replayed' else 'idempotency_conflict' end;
      if v_is_same[i] then recipient_id := v_earlier_to[i]; end if;
    elsif available < p_amounts[i] then
      outcome := 'insufficient_funds';
    elsif sendable < p_amounts[i] then
      outcome := case when v_owed[v_from] > 0 then 'owed' else 'not_sendable' end;
    elsif v_daily_left[v_from] < p_amounts[i] then
      outcome := 'over_daily_limit';
      sendable := greatest(v_daily_left[v_from], 0);
    elsif recipient_id is null then
      outcome := 'unknown_recipient';
    elsif v_from = v_to then
      outcome := 'own_account';
    else
      outcome := 'ok';
      transfer_id := uuidv7();
      v_moved := v_moved || i;
      v_moved_keys := v_moved_keys || v_keys[i];
      v_ids := v_ids || transfer_id;
      v_available[v_from] := v_available[v_from] - p_amounts[i];
      v_available[v_to] := v_available[v_to] + p_amounts[i];
      v_sendable[v_from] := v_sendable[v_from] - p_amounts[i];
      v_sendable[v_to] := v_sendable[v_to] + p_amounts[i];
      v_paid[v_from] := v_paid[v_from] + p_amounts[i];
      v_daily_left[v_from] := v_daily_left[v_from] - p_amounts[i];
      v_received[v_to] := v_received[v_to] + p_amounts[i];
      available := v_available[v_from];
    end if;
    return next;
  end loop;
  if v_ids = '{}' then return; end if;

  insert into ledger_transfers
    (id, debit_account_id, credit_account_id, amount, kind, description, refs, idempotency_key)
  select id, 'user:' || p_senders[i], 'user:' || v_recipients[i], p_amounts[i], 'transfer', 'Bagels',
    jsonb_strip_nulls(jsonb_build_object('key_id', p_key_ids[i])), v_keys[i]
  from unnest(v_ids, v_moved) as moved (id, i);

  update ledger_accounts a set
    debits_posted = a.debits_posted + moved.paid,
    credits_posted = a.credits_posted + moved.received
  from unnest(v_users, v_paid, v_received) as moved (user_id, paid, received)
  where a.kind = 'user' and a.owner_user_id = moved.user_id and moved.paid + moved.received > 0;
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_settle(p_hold_id uuid, p_amount bigint, OUT outcome text, OUT transfer_id uuid, OUT debit_account_id text)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  v_hold ledger_holds;
  v_given bigint;
begin
  select * into v_hold from ledger_holds where id = p_hold_id for no key update;
  if not found then
    outcome := 'not_found';
    return;
  end if;
  debit_account_id := v_hold.debit_account_id;

  if v_hold.status <> 'pending' then
    outcome := case when coalesce(v_hold.settled_amount, 0) = p_amount then 'replayed' else 'ended' end;
    if outcome = 'replayed' then
      select t.id into transfer_id from ledger_transfers t where t.hold_id = p_hold_id;
    end if;
    return;
  end if;
  if p_amount > v_hold.amount then
    outcome := 'exceeds_hold';
    return;
  end if;

  select least(coalesce(l.given, 0), p_amount) into v_given
  from ledger_lock(v_hold.debit_account_id, v_hold.credit_account_id) l;
  update ledger_accounts a set
    debits_pending = a.debits_pending - case a.id when v_hold.debit_account_id then v_hold.amount else 0 end,
    debits_posted = a.debits_posted + case a.id when v_hold.debit_account_id then p_amount else 0 end,
    credits_posted = a.credits_posted + case a.id when v_hold.credit_account_id then p_amount else 0 end,
    given = a.given - case a.id when v_hold.debit_account_id then v_given else 0 end
  where a.id in (v_hold.debit_account_id, v_hold.credit_account_id) and a.kind = 'user';
  if v_given > 0 then perform ledger_take_given(v_hold.debit_account_id, v_given); end if;

  update ledger_holds h set
    status = case when p_amount > 0 then 'settled' else 'released' end,
    settled_amount = nullif(p_amount, 0),
    ended_at = now()
  where h.id = p_hold_id;

  if p_amount > 0 then
    insert into ledger_transfers as t
      (debit_account_id, credit_account_id, amount, kind, description, refs, hold_id, given)
    values (v_hold.debit_account_id, v_hold.credit_account_id, p_amount, v_hold.kind, v_hold.description,
      v_hold.refs, p_hold_id, v_given)
    returning t.id into transfer_id;
  end if;
  outcome := 'ok';
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_sides(p_after bigint, p_upto bigint)
 RETURNS TABLE(account_id text, key_id text, day date, counterpart text, paid bigint, received bigint, transfers bigint)
 LANGUAGE sql
 STABLE
AS $function$
  select debit_account_id, case when debit_account_id like 'user:%' then refs ->> 'key_id' end,
    (created_at at time zone 'UTC')::date,
    case when credit_account_id like 'user:%' then 'users' else credit_account_id end, amount, 0::bigint, 1::bigint
  from ledger_transfers where seq > p_after and seq <= p_upto
  union all
  select credit_account_id, case when kind = 'refund' then refs ->> 'key_id' end,
    (created_at at time zone 'UTC')::date,
    case when debit_account_id like 'user:%' then 'users' else debit_account_id end, 0::bigint, amount, 1::bigint
  from ledger_transfers where seq > p_after and seq <= p_upto
$function$;

CREATE OR REPLACE FUNCTION public.ledger_sum_days(p_after bigint, p_upto bigint)
 RETURNS TABLE(account_id text, key_id text, day date, counterpart text, paid bigint, received bigint, transfers bigint)
 LANGUAGE sql
 STABLE
AS $function$
  select account_id, key_id, day, counterpart, sum(paid)::bigint, sum(received)::bigint, count(*)
  from ledger_sides(p_after, p_upto)
  group by 1, 2, 3, 4
$function$;

CREATE OR REPLACE FUNCTION public.ledger_sum_transfers(p_after bigint, p_upto bigint)
 RETURNS TABLE(account_id text, counterpart text, paid bigint, received bigint, transfers bigint)
 LANGUAGE sql
 STABLE
AS $function$
  select account_id, counterpart, sum(paid)::bigint, sum(received)::bigint, count(*)
  from ledger_sides(p_after, p_upto)
  group by 1, 2
$function$;

CREATE OR REPLACE FUNCTION public.ledger_take_given(p_account_id text, p_amount bigint)
 RETURNS void
 LANGUAGE sql
AS $function$
  update ledger_given g set remaining = g.remaining - portions.taken
  from (
    select id, least(remaining, p_amount - (sum(remaining) over in_turn - remaining)) as taken
    from ledger_given where account_id = p_account_id and remaining > 0
    window in_turn as (order by expires_at, id)
  ) portions
  where portions.id = g.id and portions.taken > 0
$function$;

CREATE OR REPLACE FUNCTION public.ledger_transfer(p_debit text, p_credit text, p_amount bigint, p_kind text, p_description text, p_refs jsonb, p_idempotency_key text, p_given_until timestamp with time zone DEFAULT NULL::timestamp with time zone, OUT outcome text, OUT transfer_id uuid, OUT available bigint, OUT sendable bigint)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  v_given_left bigint; -- null for a system account
  v_given_paid bigint;
  v_given_received bigint := case when p_given_until is null then 0 else p_amount end;
  v_owed bigint := 0;
begin
  select l.available, l.sendable, l.given into available, sendable, v_given_left from ledger_lock(p_debit, p_credit) l;
  if p_debit like 'user:%' and p_credit like 'user:%' then
    v_owed := ledger_owed(substr(p_debit, length('user:') + 1));
    sendable := greatest(sendable - v_owed, 0);
  end if;
  v_given_paid := case when p_credit like 'user:%' then 0 else least(coalesce(v_given_left, 0), p_amount) end;

  loop
    select t.id,
      case when (t.debit_account_id, t.credit_account_id, t.amount, t.kind) = (p_debit, p_credit, p_amount, p_kind)
        then 'replayed' else 'idempotency_conflict' end
    into transfer_id, outcome
    from ledger_transfers t where t.idempotency_key = p_idempotency_key;
    if found then return; end if;

    if available < p_amount then
      outcome := 'insufficient_funds';
      return;
    end if;
    if sendable < p_amount and p_credit like 'user:%' then
      outcome := case when v_owed > 0 then 'owed' else 'not_sendable' end;
      return;
    end if;

    insert into ledger_transfers as t
      (debit_account_id, credit_account_id, amount, kind, description, refs, idempotency_key, given)
    values (p_debit, p_credit, p_amount, p_kind, p_description, p_refs, p_idempotency_key,
      v_given_paid + v_given_received)
    on conflict (idempotency_key) do nothing
    returning t.id into transfer_id;
    -- Not found: a call that locked other accounts used the key meanwhile; look at what it moved.
    exit when found;
  end loop;

  update ledger_accounts a set
    debits_posted = a.debits_posted + case a.id when p_debit then p_amount else 0 end,
    credits_posted = a.credits_posted + case a.id when p_credit then p_amount else 0 end,
    given = a.given + case a.id when p_debit then -v_given_paid else v_given_received end
  where a.id in (p_debit, p_credit) and a.kind = 'user';
  if v_given_paid > 0 then perform ledger_take_given(p_debit, v_given_paid); end if;
  if v_given_received > 0 then
    insert into ledger_given (account_id, transfer_id, amount, remaining, expires_at)
    values (p_credit, transfer_id, p_amount, p_amount, p_given_until);
  end if;
  outcome := 'ok';
  available := available - p_amount;
end $function$;

CREATE OR REPLACE FUNCTION public.newest_files(of_asset uuid, from_path text, most integer)
 RETURNS SETOF asset_files
 LANGUAGE sql
 STABLE
 SET enable_bitmapscan TO 'off'
 SET enable_seqscan TO 'off'
AS $function$
  select * from asset_files
  where asset_id = of_asset and last_number is null and path >= from_path
  order by path limit most
$function$;

CREATE OR REPLACE FUNCTION public.note_unowned_blobs()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'DELETE' then
    perform from blobs where sha256 in (select sha256 from changed) order by sha256 for update;
    update blobs b set unowned = true
    where b.sha256 in (select sha256 from changed)
      and not exists (select from blob_owners o where o.sha256 = b.sha256);
    return null;
  end if;
  perform from blobs where sha256 in (select sha256 from changed) and unowned order by sha256 for no key update;
  update blobs set unowned = false where sha256 in (select sha256 from changed) and unowned;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.notify_of_received_credits()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into notifications (user_id, kind, data)
  select recipient.owner_user_id, 'credits_received',
    jsonb_build_object('amount_micro', new.amount::text, 'sender', sender.username)
  from ledger_accounts recipient, ledger_accounts payer
  join users sender on sender.id = payer.owner_user_id
  where recipient.id = new.credit_account_id and recipient.owner_user_id is not null
    and payer.id = new.debit_account_id
    and (
      select count(*) from (
        select from notifications
        where user_id = recipient.owner_user_id and kind = 'credits_received' and data ->> 'sender' = sender.username
          and read_at is null
        limit 20
      ) unread
    ) < 20;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.notify_row_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  -- Before and after, for a name that changes: PostgreSQL delivers equal messages of a transaction once.
  perform pg_notify('bakehouse_row_change', json_build_object('of', tg_argv[0], 'id', told.id)::text)
  from (values (to_jsonb(old)), (to_jsonb(new))) as version (fields),
    lateral (select coalesce(fields->>tg_argv[1], fields->>'id') as id) as told
  where told.id is not null;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.own_artefacts()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op in ('INSERT', 'UPDATE') then
    perform add_blob_owners(
      array_agg(sha256), array_agg('workload'::text), array_agg(workload_id::text), array_agg(size_bytes)
    ) from added;
  end if;
  if tg_op in ('DELETE', 'UPDATE') then
    perform remove_blob_owners(array_agg(sha256), array_agg('workload'::text), array_agg(workload_id::text))
    from gone;
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.own_asset_files()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  sha256s text[];
  kinds text[];
  ids text[];
  sizes bigint[];
begin
  -- Whoever changes what a user stores holds their row.
  insert into user_storage (user_id)
  select distinct a.owner_user_id from changed c join assets a on a.id = c.asset_id
  where a.owner_user_id is not null
  order by 1
  on conflict do nothing;

  perform from user_storage where user_id in (
    select a.owner_user_id from changed c join assets a on a.id = c.asset_id
  ) order by user_id for update;

  select array_agg(c.sha256), array_agg(case when a.owner_user_id is null then 'starter' else 'user' end),
    array_agg(coalesce(a.owner_user_id, '')), array_agg(c.size_bytes)
  into sha256s, kinds, ids, sizes
  from changed c join assets a on a.id = c.asset_id;

  if tg_op = 'INSERT' then perform add_blob_owners(sha256s, kinds, ids, sizes);
  else perform remove_blob_owners(sha256s, kinds, ids);
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.own_pictures()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  sha256s text[];
  kinds text[];
  ids text[];
  sizes bigint[];
begin
  -- Whoever changes what a user stores holds their row.
  insert into user_storage (user_id) select distinct user_id from changed order by 1 on conflict do nothing;
  perform from user_storage where user_id in (select user_id from changed) order by user_id for update;

  select array_agg(sha256), array_agg('user'::text), array_agg(user_id), array_agg(size_bytes)
  into sha256s, kinds, ids, sizes
  from (
    select sha256, user_id, size_bytes from changed
    union all
    select thumbnail_sha256, user_id, thumbnail_bytes from changed where thumbnail_sha256 is not null
  ) as stored;
  if tg_op = 'INSERT' then perform add_blob_owners(sha256s, kinds, ids, sizes);
  else perform remove_blob_owners(sha256s, kinds, ids);
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.pick_username()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  base text;
  candidate text;
  n integer := 1;
begin
  if new.username is not null then
    return new;
  end if;
  -- Letters lose their accents, all else becomes a dash.
  base := regexp_replace(normalize(lower(split_part(new.email, '@', 1)), NFD), '[\u0300-\u036f]', '', 'g');
  base := trim(both '-' from regexp_replace(base, '[^a-z0-9_]+', '-', 'g'));
  if base = '' then
    base := 'user';
  end if;
  base := left(rpad(base, greatest(length(base), 3), '0'), 24);
  perform pg_advisory_xact_lock(hashtextextended('pick_username:' || base, 0));
  candidate := base;
  while exists (select from users where username = candidate) loop
    n := n + 1;
    candidate := base || '-' || n;
  end loop;
  new.username := candidate;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.refuse_another_spec()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'The spec of a workload never changes';
end
$function$;

CREATE OR REPLACE FUNCTION public.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $function$;

CREATE OR REPLACE FUNCTION public.refuse_deleted_user()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  v_deleted_at timestamptz;
begin
  select deleted_at into v_deleted_at from users where id = new.user_id for key share;
  if v_deleted_at is not null then
    raise exception 'the account of user % was deleted', new.user_id using errcode = 'check_violation';
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.remove_blob_owners(sha256s text[], kinds text[], ids text[])
 RETURNS void
 LANGUAGE sql
AS $function$
  update blob_owners o set refs = o.refs - gone.refs
  from (
    select sha256, kind, id, count(*) as refs
    from unnest(sha256s, kinds, ids) as gone (sha256, kind, id) group by sha256, kind, id
  ) as gone
  where o.sha256 = gone.sha256 and o.owner_kind = gone.kind and o.owner_id = gone.id;

  delete from blob_owners o
  using (select distinct sha256, kind, id from unnest(sha256s, kinds, ids) as gone (sha256, kind, id)) as gone
  where o.sha256 = gone.sha256 and o.owner_kind = gone.kind and o.owner_id = gone.id and o.refs = 0;
$function$;

CREATE OR REPLACE FUNCTION public.spec_adapter_names(spec jsonb)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select coalesce(array_agg(adapter ->> 'name' order by position), '{}')
  from jsonb_array_elements(case jsonb_typeof(spec -> 'adapters') when 'array' then spec -> 'adapters' end)
    with ordinality as adapters (adapter, position)
$function$;

CREATE OR REPLACE FUNCTION public.usage_add(a jsonb, b jsonb)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select coalesce(jsonb_object_agg(key, total), '{}') from (
    select key, sum(value::bigint) as total
    from (select * from jsonb_each_text(a) union all select * from jsonb_each_text(b)) both_of_them
    group by key
  ) sums
$function$;

CREATE OR REPLACE FUNCTION public.usage_close(p_window_id uuid, p_leader uuid, p_at timestamp with time zone, OUT outcome text, OUT user_id text, OUT uncharged bigint)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  v_window usage_windows;
  v_charged bigint;
begin
  uncharged := 0;
  select * into v_window from usage_windows where id = p_window_id for no key update;
  user_id := v_window.user_id;
  if not found or v_window.closed_at is not null then
    outcome := 'closed';
    return;
  end if;
  if p_leader is distinct from v_window.leader_id and exists (
    select from usage_leaders where id = v_window.leader_id and lease_until > clock_timestamp()
  ) then
    outcome := 'led';
    return;
  end if;

  select least(v_window.used_micro, h.amount) into v_charged
  from ledger_holds h where h.id = v_window.hold_id for no key update;
  update ledger_holds set refs = refs || (
    select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each_text(v_window.quantities)
  ) || jsonb_build_object(
    'events', v_window.events::text, 'digest', encode(v_window.digest, 'hex'))
  where id = v_window.hold_id and status = 'pending' and v_window.events > 0;
  select s.outcome into outcome from ledger_settle(v_window.hold_id, v_charged) s;
  if outcome = 'replayed' then outcome := 'ok'; end if;
  uncharged := v_window.used_micro - case outcome when 'ok' then v_charged else 0 end;
  update usage_windows set closed_at = p_at where id = p_window_id;
end $function$;

CREATE OR REPLACE FUNCTION public.usage_digest_step(p_before bytea, e usage_events)
 RETURNS bytea
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return sha256(p_before || convert_to(jsonb_build_array(
    e.n, e.id, to_char(e.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), e.amount_micro, e.quantities
  )::text, 'UTF8'));
end $function$;

CREATE OR REPLACE FUNCTION public.usage_forget_days(p_day date)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  v_name text;
  v_count integer := 0;
begin
  for v_name in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'usage_events'::regclass and c.relname < 'usage_events_' || to_char(p_day, 'YYYYMMDD')
  loop
    execute format('drop table %I', v_name);
    v_count := v_count + 1;
  end loop;
  return v_count;
end $function$;

CREATE OR REPLACE FUNCTION public.usage_lease(p_leader uuid, p_lease_ms integer, p_left_ms integer)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if exists (
    select from usage_leaders
    where id = p_leader and lease_until > clock_timestamp() + p_left_ms * interval '1 millisecond'
  ) then
    return;
  end if;
  insert into usage_leaders values (p_leader, clock_timestamp() + p_lease_ms * interval '1 millisecond')
  on conflict (id) do update set lease_until = excluded.lease_until;
end $function$;

CREATE OR REPLACE FUNCTION public.usage_open(p_window_id uuid, p_leader uuid, p_user_id text, p_key_id uuid, p_source text, p_at timestamp with time zone, p_debit text, p_credit text, p_amount bigint, p_description text, p_refs jsonb, p_expires_at timestamp with time zone, p_lease_ms integer, p_left_ms integer, OUT outcome text, OUT hold_id uuid, OUT available bigint)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
begin
  perform usage_lease(p_leader, p_lease_ms, p_left_ms);
  select h.outcome, h.hold_id, h.available into outcome, hold_id, available
  from ledger_hold(p_debit, p_credit, p_amount, 'charge', p_description, p_refs, p_expires_at, 'usage:' || p_window_id) h;
  if outcome = 'ok' then
    insert into usage_windows (id, user_id, key_id, source, leader_id, hold_id, opened_at)
    values (p_window_id, p_user_id, p_key_id, p_source, p_leader, hold_id, p_at);
  end if;
end $function$;

CREATE OR REPLACE FUNCTION public.usage_prepare_day(p_day date)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  v_name text := 'usage_events_' || to_char(p_day, 'YYYYMMDD');
begin
  if to_regclass(v_name) is not null then return; end if;
  perform pg_advisory_xact_lock(hashtextextended('usage_prepare_day', 0));
  if to_regclass(v_name) is not null then return; end if;
  execute format('create table %I (like usage_events including all)', v_name);
  execute format('alter table usage_events attach partition %I for values from (%L) to (%L)', v_name, p_day, p_day + 1);
end $function$;

CREATE OR REPLACE FUNCTION public.usage_write(p_leader uuid, p_batch jsonb)
 RETURNS TABLE(window_id uuid, events bigint, missing bigint)
 LANGUAGE plpgsql
AS $function$
declare
  v_day date := (clock_timestamp() at time zone 'UTC')::date;
  v_window usage_windows;
  v_part record;
  v_asked record;
  v_event usage_events;
begin
  perform usage_prepare_day(v_day);
  for v_part in
    select (part ->> 'window')::uuid as id, part -> 'events' as events from jsonb_array_elements(p_batch) part order by 1
  loop
    window_id := v_part.id;
    events := null;
    missing := null;
    select * into v_window from usage_windows w
    where w.id = v_part.id and w.leader_id = p_leader and w.closed_at is null for no key update;
    if found then
      for v_asked in
        select * from jsonb_to_recordset(v_part.events)
          e (n bigint, id uuid, at timestamptz, amount bigint, quantities jsonb)
        where e.n > v_window.events order by e.n
      loop
        if v_asked.n <> v_window.events + 1 then
          missing := v_window.events + 1;
          exit;
        end if;
        insert into usage_events (day, window_id, n, id, at, amount_micro, quantities)
        values (v_day, v_part.id, v_asked.n, v_asked.id, v_asked.at, v_asked.amount, v_asked.quantities)
        returning * into v_event;
        v_window.events := v_asked.n;
        v_window.used_micro := v_window.used_micro + v_asked.amount;
        v_window.quantities := usage_add(v_window.quantities, v_asked.quantities);
        v_window.digest := usage_digest_step(v_window.digest, v_event);
      end loop;
      update usage_windows w set
        events = v_window.events, used_micro = v_window.used_micro,
        quantities = v_window.quantities, digest = v_window.digest
      where w.id = v_part.id;
      events := case when missing is null then v_window.events end;
    end if;
    return next;
  end loop;
end $function$;

CREATE TRIGGER api_keys_notify_change AFTER UPDATE ON api_keys FOR EACH ROW WHEN (old.sha256 IS DISTINCT FROM new.sha256 OR old.previous_sha256 IS DISTINCT FROM new.previous_sha256 OR old.previous_until IS DISTINCT FROM new.previous_until OR old.scopes IS DISTINCT FROM new.scopes OR old.budget_micro IS DISTINCT FROM new.budget_micro OR old.expires_at IS DISTINCT FROM new.expires_at OR old.revoked_at IS DISTINCT FROM new.revoked_at) EXECUTE FUNCTION notify_row_change('api_key');
CREATE TRIGGER api_keys_notify_end AFTER DELETE ON api_keys FOR EACH ROW EXECUTE FUNCTION notify_row_change('api_key');
CREATE TRIGGER api_keys_of_nobody BEFORE INSERT ON api_keys FOR EACH ROW EXECUTE FUNCTION refuse_deleted_user();
CREATE TRIGGER asset_files_disowned AFTER DELETE ON asset_files REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION own_asset_files();
CREATE TRIGGER asset_files_owned AFTER INSERT ON asset_files REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION own_asset_files();
CREATE TRIGGER assets_files_first BEFORE DELETE ON assets FOR EACH ROW EXECUTE FUNCTION delete_files_of_asset();
CREATE TRIGGER audit_log_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON audit_log FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER blob_owners_counted_in AFTER INSERT ON blob_owners REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_user_storage();
CREATE TRIGGER blob_owners_counted_out AFTER DELETE ON blob_owners REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_user_storage();
CREATE TRIGGER blob_owners_noted_in AFTER INSERT ON blob_owners REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_unowned_blobs();
CREATE TRIGGER blob_owners_noted_out AFTER DELETE ON blob_owners REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_unowned_blobs();
CREATE TRIGGER column_statistics_forgotten AFTER DELETE ON blobs FOR EACH ROW EXECUTE FUNCTION forget_column_statistics();
CREATE TRIGGER deployments_notify_change AFTER UPDATE ON deployments FOR EACH ROW WHEN (old.model_server_id IS DISTINCT FROM new.model_server_id OR old.model_name IS DISTINCT FROM new.model_name OR old.adapter IS DISTINCT FROM new.adapter OR old.revision_id IS DISTINCT FROM new.revision_id OR old.sleeping IS DISTINCT FROM new.sleeping OR old.terminated_at IS DISTINCT FROM new.terminated_at) EXECUTE FUNCTION notify_row_change('deployment', 'model_name');
CREATE TRIGGER deployments_notify_start AFTER INSERT OR DELETE ON deployments FOR EACH ROW EXECUTE FUNCTION notify_row_change('deployment', 'model_name');
CREATE TRIGGER generation_outputs_disowned AFTER DELETE ON generation_outputs REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION own_pictures();
CREATE TRIGGER generation_outputs_owned AFTER INSERT ON generation_outputs REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION own_pictures();
CREATE TRIGGER input_pictures_disowned AFTER DELETE ON input_pictures REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION own_pictures();
CREATE TRIGGER input_pictures_owned AFTER INSERT ON input_pictures REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION own_pictures();
CREATE TRIGGER ledger_given_kept BEFORE DELETE OR TRUNCATE ON ledger_given FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER ledger_holds_count_change_for_key AFTER UPDATE ON ledger_holds FOR EACH ROW WHEN (new.refs ? 'key_id'::text AND (old.amount <> new.amount OR old.status <> new.status)) EXECUTE FUNCTION count_hold_for_key();
CREATE TRIGGER ledger_holds_count_for_key AFTER INSERT ON ledger_holds FOR EACH ROW WHEN (new.refs ? 'key_id'::text) EXECUTE FUNCTION count_hold_for_key();
CREATE TRIGGER ledger_holds_ended_stay BEFORE UPDATE ON ledger_holds FOR EACH ROW WHEN (old.status <> 'pending'::text) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER ledger_holds_kept BEFORE DELETE OR TRUNCATE ON ledger_holds FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER ledger_seals_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_seals FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER ledger_transfers_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_transfers FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER ledger_transfers_notify AFTER INSERT ON ledger_transfers FOR EACH ROW WHEN (new.kind = 'transfer'::text) EXECUTE FUNCTION notify_of_received_credits();
CREATE TRIGGER ledger_verifications_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_verifications FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER model_servers_notify_change AFTER UPDATE ON model_servers FOR EACH ROW WHEN (old.engine IS DISTINCT FROM new.engine OR old.accelerator IS DISTINCT FROM new.accelerator OR old.starter_name IS DISTINCT FROM new.starter_name OR (old.starter_requested_at IS NULL) IS DISTINCT FROM (new.starter_requested_at IS NULL) OR old.workload_id IS DISTINCT FROM new.workload_id) EXECUTE FUNCTION notify_row_change('model_server', 'deployment_id');
CREATE TRIGGER price_changes_notify AFTER INSERT OR DELETE OR UPDATE ON price_changes FOR EACH ROW EXECUTE FUNCTION notify_row_change('price', 'price_id');
CREATE TRIGGER sessions_of_nobody BEFORE INSERT ON sessions FOR EACH ROW EXECUTE FUNCTION refuse_deleted_user();
CREATE TRIGGER sign_in_methods_of_nobody BEFORE INSERT ON sign_in_methods FOR EACH ROW EXECUTE FUNCTION refuse_deleted_user();
CREATE TRIGGER pick_username BEFORE INSERT ON users FOR EACH ROW EXECUTE FUNCTION pick_username();
CREATE TRIGGER users_notify_change AFTER UPDATE ON users FOR EACH ROW WHEN (old.email IS DISTINCT FROM new.email OR old.email_verified IS DISTINCT FROM new.email_verified) EXECUTE FUNCTION notify_row_change('user');
CREATE TRIGGER workload_artefacts_disowned AFTER DELETE ON workload_artefacts REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION own_artefacts();
CREATE TRIGGER workload_artefacts_owned AFTER INSERT ON workload_artefacts REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION own_artefacts();
CREATE TRIGGER workload_artefacts_reowned AFTER UPDATE ON workload_artefacts REFERENCING OLD TABLE AS gone NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION own_artefacts();
CREATE TRIGGER workloads_notify_change AFTER UPDATE ON workloads FOR EACH ROW WHEN (new.behaviour = 'deployment'::text AND (old.state IS DISTINCT FROM new.state OR old.base_url IS DISTINCT FROM new.base_url OR old.server_key IS DISTINCT FROM new.server_key)) EXECUTE FUNCTION notify_row_change('workload');
CREATE TRIGGER workloads_spec BEFORE UPDATE OF spec ON workloads FOR EACH ROW WHEN (old.spec IS DISTINCT FROM new.spec) EXECUTE FUNCTION refuse_another_spec();
