// Made by scripts/gen/gen-database.ts from the migrations. Do not edit.
import type { ColumnType, GeneratedAlways } from 'kysely';

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** Read as a value, written as JSON text (see toJson in database.ts). */
export type Json = ColumnType<JsonValue, string, string>;

export type Timestamp = ColumnType<Date, Date | string, Date | string>;

export type Generated<T> =
  T extends ColumnType<infer S, infer I, infer U> ? ColumnType<S, I | undefined, U> : ColumnType<T, T | undefined, T>;

export type PreparationId = 'serving' | 'starter-language-model' | 'training' | 'vllm' | 'starter-image-model' | 'starter-embedding-model';

export type PreparationState = 'waiting' | 'running' | 'ready' | 'failed';

export type AccessRequestsTable = {
  id: Generated<string>;
  restricted_model_id: string;
  user_id: string;
  message: string;
  state: Generated<string>;
  requested_at: Generated<Timestamp>;
  decided_at: Timestamp | null;
  decided_by: string | null;
};

export type ApiKeysTable = {
  user_id: string;
  sha256: Buffer;
  encrypted: Buffer | null;
  created_at: Generated<Timestamp>;
  last_used_at: Timestamp | null;
  id: Generated<string>;
  name: string;
  scopes: Generated<string[]>;
  for_web_app: boolean;
  expires_at: Timestamp | null;
  revoked_at: Timestamp | null;
  previous_sha256: Buffer | null;
  previous_until: Timestamp | null;
  budget_micro: bigint | null;
  budget_period: string | null;
  spent_micro: Generated<bigint>;
  held_micro: Generated<bigint>;
  counted_since: Generated<Timestamp>;
};

export type AssetDownloadsTable = {
  asset_id: string;
  downloads: bigint;
};

export type AssetFilesTable = {
  asset_id: string;
  path: string;
  first_number: number;
  last_number: number | null;
  sha256: string;
  size_bytes: bigint;
  uploaded_at: Generated<Timestamp>;
};

export type AssetLineageTable = {
  asset_id: string;
  run_id: string;
  base_asset_id: string;
  base_revision_id: string;
  base_title: string;
  dataset_asset_id: string;
  dataset_revision_id: string;
  dataset_title: string;
  created_at: Generated<Timestamp>;
};

export type AssetOldNamesTable = {
  asset_id: string;
  name: string;
};

export type AssetSharesTable = {
  asset_id: string;
  user_id: string;
  created_at: Generated<Timestamp>;
};

export type AssetSourcesTable = {
  asset_id: string;
  hub_url: string;
  repo_id: string;
  commit_id: string;
};

export type AssetUploadsTable = {
  id: string;
  asset_id: string;
  path: string;
  revision_id: string | null;
  created_at: Generated<Timestamp>;
};

export type AssetsTable = {
  id: Generated<string>;
  owner_user_id: string | null;
  is_starter: Generated<boolean>;
  starter_slug: string | null;
  dataset_type: string;
  title: string;
  category: string;
  details: string;
  tags: Generated<string[]>;
  price_micro: Generated<bigint>;
  embedding_model: Generated<string>;
  dimensions: Generated<number>;
  is_published: Generated<boolean>;
  base_model_type: string | null;
  parent_asset_id: string | null;
  revision_id: string | null;
  file_count: Generated<number>;
  size_bytes: Generated<bigint>;
  created_at: Generated<Timestamp>;
  updated_at: Generated<Timestamp>;
  deleted_at: Timestamp | null;
  family: Generated<string>;
  search_text: GeneratedAlways<string>;
  starter_task: string | null;
  is_lora: Generated<boolean>;
  name: Generated<string>;
  use_ipfs: Generated<boolean>;
  card_tags: Generated<string[]>;
  pipeline_tag: string | null;
  library_name: string | null;
};

export type AuditLogTable = {
  id: GeneratedAlways<bigint>;
  at: Generated<Timestamp>;
  user_id: string | null;
  action: string;
  detail: Generated<Json>;
};

export type BatchLinesTable = {
  batch_id: string;
  number: number;
  custom_id: string;
  body: Json;
  answer: Json | null;
  is_error: boolean | null;
};

export type BlobCidsTable = {
  sha256: string;
  cid: string;
  dag_bytes: bigint;
};

export type BlobDeletionsTable = {
  sha256: string;
  begun_at: Generated<Timestamp>;
};

export type BlobOwnersTable = {
  sha256: string;
  owner_kind: string;
  owner_id: string;
  size_bytes: bigint;
  refs: bigint;
};

export type BlobsTable = {
  sha256: string;
  size_bytes: bigint;
  created_at: Generated<Timestamp>;
  touched_at: Generated<Timestamp>;
  checked_at: Generated<Timestamp>;
  damaged_at: Timestamp | null;
  unowned: Generated<boolean>;
};

export type BulkAnswersTable = {
  id: string;
  kind: string;
  user_id: string;
  key_id: string | null;
  created_at: Timestamp;
  prices: Generated<Json>;
  hold_id: string | null;
  held_micro: Generated<bigint>;
  cost_micro: Generated<bigint>;
  charged_micro: Generated<bigint>;
  total: Generated<number>;
  completed: Generated<number>;
  failed: Generated<number>;
  error: string | null;
  started_at: Timestamp | null;
  cancelled_at: Timestamp | null;
  expires_at: Timestamp | null;
  ended_at: Timestamp | null;
  outcome: string | null;
  check_at: Timestamp;
  lock_token: string | null;
  locked_until: Timestamp | null;
  endpoint: string | null;
  model: string | null;
  input_asset_id: string | null;
  metadata: Json | null;
  begun_at: Timestamp | null;
  output_asset_id: string | null;
  error_asset_id: string | null;
  settings: Json | null;
  dropped: Generated<Json>;
};

export type CardDataTable = {
  sha256: string;
  data: Json | null;
  parsed: Generated<boolean>;
};

export type ChatRequestsTable = {
  id: string;
  user_id: string;
  deployment_id: string | null;
  model_name: string;
  at: Timestamp;
  ok: boolean;
  prompt_tokens: number;
  completion_tokens: number;
  first_token_ms: number | null;
  total_ms: number;
  cost_micro: bigint;
};

export type ColumnStatisticsTable = {
  sha256: string;
  ending: string;
  statistics: Json;
};

export type ContactMessagesTable = {
  id: Generated<string>;
  user_id: string;
  subject: string;
  message: string;
  status: Generated<string>;
  created_at: Generated<Timestamp>;
};

export type ConversationsTable = {
  user_id: string;
  model: string;
  version: number;
  save_id: string;
  content: Json;
  size_bytes: number;
  saved_at: Timestamp;
  id: string;
  title: GeneratedAlways<string>;
};

export type CreditCodeRedemptionsTable = {
  code_id: string;
  user_id: string;
  redeemed_at: Generated<Timestamp>;
};

export type CreditCodesTable = {
  id: Generated<string>;
  sha256: Buffer;
  hint: string;
  amount_micro: bigint;
  redemptions: Generated<number>;
  redemptions_max: number;
  note: string;
  expires_at: Timestamp | null;
  revoked_at: Timestamp | null;
  created_by: string;
  created_at: Generated<Timestamp>;
};

export type DataReadingsTable = {
  id: Generated<string>;
  user_id: string;
  data_name: string;
  dataset_asset_id: string;
  file_name: string;
  input: Json;
  state: Generated<string>;
  rows_read: Generated<number>;
  part: Generated<number>;
  reason: string | null;
  report: Json | null;
  created_at: Timestamp;
  ended_at: Timestamp | null;
};

export type DeploymentsTable = {
  id: Generated<string>;
  user_id: string;
  model_server_id: string;
  asset_id: string;
  revision_id: string;
  base_asset_id: string;
  model_name: string;
  title: string;
  base_model_title: string;
  instance_type: string;
  price_id: string;
  price_count: number;
  sleeping: Generated<boolean>;
  reason: Generated<string>;
  carrier_id: string | null;
  hold_id: string | null;
  holds_made: Generated<number>;
  unsettled_ms: Generated<bigint>;
  metered_at: Timestamp | null;
  settled_micro: Generated<bigint>;
  requests: Generated<bigint>;
  prompt_tokens: Generated<bigint>;
  completion_tokens: Generated<bigint>;
  tokens_micro: Generated<bigint>;
  created_at: Generated<Timestamp>;
  ready_at: Timestamp | null;
  last_request_at: Timestamp | null;
  terminated_at: Timestamp | null;
  failed: Generated<boolean>;
  key_id: string | null;
  kind: string;
  adapter: Json | null;
  auto_scale: Generated<boolean>;
  min_replicas: Generated<number>;
  max_replicas: Generated<number>;
  replicas: Generated<number>;
  metered_replicas: Generated<number>;
  busy_at: Timestamp | null;
  held_ms: Generated<bigint>;
  no_room_at: Timestamp | null;
  unit_price_micro: bigint;
  stop_reason: string | null;
};

export type DraftChunksTable = {
  draft_id: string;
  number: number;
  document_id: string;
  source: string;
  content: string;
  state: Generated<string>;
};

export type DraftDocumentsTable = {
  id: string;
  draft_id: string;
  name: string;
  pages: number | null;
  empty_pages: number;
  characters: number;
  sections: Json;
  number: GeneratedAlways<bigint>;
};

export type DraftRowsTable = {
  id: Generated<string>;
  draft_id: string;
  chunk: number;
  position: number;
  question: string;
  answer: string;
  saved_in: string | null;
};

export type FilePurposesTable = {
  asset_id: string;
  purpose: string;
};

export type FineTunedModelsTable = {
  asset_id: string;
  name: string;
  created_at: Generated<Timestamp>;
};

export type FineTuningJobsTable = {
  run_id: string;
  user_id: string;
  suffix: string | null;
  metadata: Json | null;
  integrations: Generated<Json>;
  reinforcement: Json | null;
};

export type GenerationOutputsTable = {
  id: Generated<string>;
  generation_id: string;
  user_id: string;
  sha256: string;
  media_type: string;
  size_bytes: bigint;
  width: number;
  height: number;
  thumbnail_sha256: string | null;
  thumbnail_bytes: bigint | null;
  duration_s: number | null;
  frames: number | null;
  has_audio: boolean | null;
  strip_sha256: string | null;
  strip_bytes: bigint | null;
};

export type GenerationPreviewsTable = {
  generation_id: string;
  preview: string;
};

export type GenerationQueueTable = {
  id: string | null;
  user_id: string | null;
  queue: string | null;
  turn: bigint | null;
  position: bigint | null;
};

export type GenerationTurnsTable = {
  user_id: string;
  queue: string;
  served_at: Timestamp;
};

export type GenerationsTable = {
  id: Generated<string>;
  user_id: string;
  key_id: string | null;
  generator: string;
  provider: string;
  model: string;
  revision_id: string | null;
  prompt: string;
  parameters: Json;
  seed: bigint | null;
  request_sha256: string;
  state: Generated<string>;
  reason: Generated<string>;
  step: Generated<number>;
  steps: number;
  hold_id: string;
  held_micro: bigint;
  charged_micro: bigint | null;
  attempt: Generated<number>;
  check_at: Timestamp;
  lock_token: string | null;
  locked_until: Timestamp | null;
  created_at: Timestamp;
  started_at: Timestamp | null;
  ended_at: Timestamp | null;
  refused: Generated<boolean>;
  source_generation_id: string | null;
  root_generation_id: string | null;
  upstream_job: Json | null;
  queue: string | null;
  source_output_id: string | null;
  lora_revision_id: string | null;
  left_at: Timestamp | null;
  process_id: string | null;
  details: Generated<Json>;
  asked: Json | null;
};

export type HeldOutAnswersTable = {
  run_id: string;
  answers: Json;
};

export type HubCloneFilesTable = {
  clone_id: string;
  path: string;
  size_bytes: bigint;
  sha256: string | null;
  git_sha1: string;
  upload_id: string | null;
  is_copied: Generated<boolean>;
};

export type HubCloneLinesTable = {
  clone_id: string;
  id: GeneratedAlways<bigint>;
  line: string;
};

export type HubClonesTable = {
  id: Generated<string>;
  user_id: string;
  repo_id: string;
  dataset_type: string;
  commit_id: string;
  state: Generated<string>;
  reason: Generated<string>;
  files_total: number | null;
  bytes_total: bigint | null;
  files_done: Generated<number>;
  bytes_done: Generated<bigint>;
  bytes_per_second: bigint | null;
  asset_id: string | null;
  attempt: Generated<number>;
  check_at: Timestamp;
  lock_token: string | null;
  locked_until: Timestamp | null;
  created_at: Timestamp;
  started_at: Timestamp | null;
  ended_at: Timestamp | null;
};

export type HubTokensTable = {
  user_id: string;
  encrypted: Buffer;
  account: string;
  saved_at: Timestamp;
};

export type HubXorbsTable = {
  user_id: string;
  session: string;
  hash: string;
  sha256: string;
  size_bytes: bigint;
  created_at: Generated<Timestamp>;
  chunk_headers: Buffer | null;
};

export type IdempotencyKeysTable = {
  user_id: string;
  key: string;
  operation: string;
  input_sha256: string;
  answer: Json | null;
  created_at: Generated<Timestamp>;
};

export type InputPicturesTable = {
  id: Generated<string>;
  user_id: string;
  generation_id: string | null;
  sha256: string;
  media_type: string;
  size_bytes: bigint;
  width: number;
  height: number;
  created_at: Timestamp;
  thumbnail_sha256: string | null;
  thumbnail_bytes: bigint | null;
  role: Generated<string>;
};

export type IpfsPinsTable = {
  id: Generated<string>;
  cid: string;
  service: string;
  state: Generated<string>;
  reason: string | null;
  request_id: string | null;
  attempts: Generated<number>;
  checked_at: Timestamp | null;
  check_at: Generated<Timestamp>;
  lock_token: string | null;
  locked_until: Timestamp | null;
};

export type JobOutcomesTable = {
  job: string;
  failed: Generated<bigint>;
  succeeded_at: Timestamp | null;
};

export type KnownAddressesTable = {
  mailbox_hash: Buffer;
  first_seen_at: Generated<Timestamp>;
};

export type LedgerAccountsTable = {
  id: string;
  kind: string;
  owner_user_id: string | null;
  credits_posted: bigint | null;
  debits_posted: bigint | null;
  debits_pending: bigint | null;
  created_at: Generated<Timestamp>;
  given: bigint | null;
};

export type LedgerDailyTable = {
  account_id: string;
  day: string;
  counterpart: string;
  paid: bigint;
  received: bigint;
  transfers: bigint;
};

export type LedgerGivenTable = {
  id: Generated<string>;
  account_id: string;
  transfer_id: string | null;
  amount: bigint;
  remaining: bigint;
  expires_at: Generated<Timestamp>;
};

export type LedgerHoldsTable = {
  id: Generated<string>;
  debit_account_id: string;
  credit_account_id: string;
  amount: bigint;
  amount_asked: bigint;
  kind: string;
  description: string;
  refs: Json;
  idempotency_key: string;
  status: Generated<string>;
  settled_amount: bigint | null;
  expires_at: Timestamp;
  created_at: Generated<Timestamp>;
  ended_at: Timestamp | null;
};

export type LedgerKeyDailyTable = {
  account_id: string;
  key_id: string;
  day: string;
  counterpart: string;
  paid: bigint;
  received: bigint;
  transfers: bigint;
};

export type LedgerKeyTotalsTable = {
  account_id: string;
  key_id: string;
  counterpart: string;
  paid: bigint;
  received: bigint;
  transfers: bigint;
};

export type LedgerLastProofTable = {
  single: Generated<boolean>;
  proved_at: Timestamp;
  report: Json;
};

export type LedgerSealedTotalsTable = {
  account_id: string;
  counterpart: string;
  paid: bigint;
  received: bigint;
  transfers: bigint;
};

export type LedgerSealsTable = {
  seq: bigint;
  hash: string;
  sealed_at: Generated<Timestamp>;
};

export type LedgerTransfersTable = {
  seq: GeneratedAlways<bigint>;
  id: Generated<string>;
  debit_account_id: string;
  credit_account_id: string;
  amount: bigint;
  kind: string;
  description: string;
  refs: Json;
  hold_id: string | null;
  idempotency_key: string | null;
  created_at: Generated<Timestamp>;
  given: Generated<bigint>;
};

export type LicenceAcceptancesTable = {
  user_id: string;
  licence: string;
  version: string;
  accepted_at: Timestamp;
};

export type LowBalanceLookTable = {
  single: Generated<boolean>;
  limit_micro: bigint;
  seq: bigint;
};

export type LowBalanceWatchTable = {
  user_id: string;
};

export type MachinesTable = {
  id: string;
  name: string;
  host: string;
  driver: string;
  offer: Json | null;
  holds_blobs: boolean;
  started_at: Timestamp;
  seen_at: Timestamp | null;
};

export type ModelServersTable = {
  id: Generated<string>;
  engine: string;
  files_sha256: string;
  base_files: Json;
  accelerator: string | null;
  accelerator_count: number;
  workload_id: string | null;
  next_workload_id: string | null;
  starter_asset_id: string | null;
  starter_name: string | null;
  starter_requested_at: Timestamp | null;
  created_at: Generated<Timestamp>;
  kind: string;
  deployment_id: string | null;
  replica: Generated<number>;
  starter_revision_id: string | null;
  failed_starts: Generated<number>;
  context_tokens: number;
};

export type NotificationsTable = {
  id: Generated<string>;
  user_id: string;
  kind: string;
  data: Json;
  created_at: Generated<Timestamp>;
  read_at: Timestamp | null;
};

export type OnboardingStepsTable = {
  user_id: string;
  step: string;
  completed_at: Generated<Timestamp>;
};

export type OutgoingMailsTable = {
  id: string;
  recipient: string;
  subject: string;
  body: string;
  created_at: Generated<Timestamp>;
};

export type PreparationsTable = {
  id: PreparationId;
  state: PreparationState;
  detail: string;
  progress: number | null;
  fingerprint: string | null;
  updated_at: Timestamp;
};

export type PriceChangesTable = {
  id: Generated<string>;
  price_id: string;
  unit_price_micro: bigint;
  previous_micro: bigint;
  valid_from: Timestamp;
  changed_by: string;
  created_at: Timestamp;
  withdrawn_at: Timestamp | null;
};

export type ProcessesTable = {
  id: string;
  machine_id: string | null;
  roles: string[];
  since: Timestamp;
  seen_at: Timestamp;
  left_at: Timestamp | null;
  url: string | null;
  secret_check: Buffer | null;
  asked: Generated<string[]>;
};

export type PurchasesTable = {
  id: Generated<string>;
  user_id: string;
  usd_cents: number;
  amount_micro: bigint;
  session_id: string | null;
  payment_id: string | null;
  status: Generated<string>;
  reversed_cents: Generated<number>;
  receipt_url: string | null;
  version: Generated<number>;
  created_at: Generated<Timestamp>;
  paid_at: Timestamp | null;
  checked_at: Timestamp | null;
};

export type RateCountsTable = {
  bucket: string;
  calls: number;
  ends_at: Timestamp;
};

export type ReadinessChecksTable = {
  id: boolean;
  checked_at: Generated<Timestamp>;
};

export type RecentChangesTable = {
  user_id: string;
  topic: string;
  thing_id: string;
  at: Timestamp;
};

export type ReferralCodesTable = {
  user_id: string;
  code: string;
  created_at: Generated<Timestamp>;
};

export type ReferralsTable = {
  invited_user_id: string;
  inviter_user_id: string;
  bonus_micro: bigint;
  created_at: Timestamp;
};

export type ResponsesTable = {
  id: string;
  user_id: string;
  input: Json;
  response: Json;
  size_bytes: number;
  created_at: Timestamp;
};

export type RestrictedModelsTable = {
  id: string;
  name: string;
  family: string;
  tags: string[];
  details: string;
  asset_id: string | null;
  created_at: Generated<Timestamp>;
  updated_at: Generated<Timestamp>;
  search_text: GeneratedAlways<string>;
};

export type RevisionBranchesTable = {
  asset_id: string;
  name: string;
  start_number: number;
  fork_number: number;
  head_number: number;
};

export type RevisionCidsTable = {
  id: string;
  asset_id: string;
  cid: string | null;
  reason: string | null;
  attempts: Generated<number>;
  check_at: Generated<Timestamp>;
  lock_token: string | null;
  locked_until: Timestamp | null;
};

export type RevisionTagsTable = {
  asset_id: string;
  name: string;
  revision_id: string;
  message: Generated<string>;
  created_at: Generated<Timestamp>;
};

export type RevisionsTable = {
  id: Generated<string>;
  asset_id: string;
  number: number;
  created_at: Generated<Timestamp>;
  commit_id: Generated<string>;
  message: Generated<string>;
  author_user_id: string | null;
};

export type RunCheckpointsTable = {
  run_id: string;
  step: number;
  user_id: string;
  sha256: string | null;
  size_bytes: bigint;
  model_asset_id: string | null;
};

export type RunSamplesTable = {
  run_id: string;
  step: number;
  number: number;
  user_id: string;
  sha256: string;
  size_bytes: bigint;
  width: number;
  height: number;
};

export type RunsTable = {
  id: string;
  user_id: string;
  title: string;
  model_asset_id: string;
  base_asset_id: string;
  base_revision_id: string;
  base_title: string;
  dataset_asset_id: string;
  dataset_revision_id: string;
  dataset_title: string;
  file_name: string;
  parameters: Json;
  price_id: string;
  devices: number;
  quote: Json;
  work_flops: number;
  hold_id: string;
  held_micro: bigint;
  hold_expires_at: Timestamp;
  settled_micro: Generated<bigint>;
  settled_seconds: Generated<number>;
  charged_micro: bigint | null;
  summary: Json | null;
  created_at: Timestamp;
  slowdown: Generated<number>;
  resumes: Generated<number>;
  ceiling_micro: bigint;
  stop_reason: string | null;
  key_id: string | null;
  unit_price_micro: bigint;
  unpaid_seconds: Generated<number>;
  kind: Generated<string>;
  validation_asset_id: string | null;
  validation_revision_id: string | null;
  validation_title: string | null;
  validation_file_name: string | null;
  memory_bytes: bigint | null;
  estimate_micro: bigint | null;
};

export type ServingWorkloadsTable = {
  id: string | null;
  state: string | null;
  reason: string | null;
  phase: string | null;
  base_url: string | null;
  adapter_names: string[] | null;
  server_key: string | null;
};

export type SessionsTable = {
  id: string;
  user_id: string;
  token: string;
  expires_at: Timestamp;
  ip_address: string | null;
  user_agent: string | null;
  created_at: Generated<Timestamp>;
  updated_at: Generated<Timestamp>;
};

export type ShareLinksTable = {
  id: Generated<string>;
  generation_id: string;
  user_id: string;
  created_at: Generated<Timestamp>;
};

export type SignInMethodsTable = {
  id: string;
  user_id: string;
  provider_id: string;
  account_id: string;
  password: string | null;
  access_token: string | null;
  refresh_token: string | null;
  id_token: string | null;
  access_token_expires_at: Timestamp | null;
  refresh_token_expires_at: Timestamp | null;
  scope: string | null;
  created_at: Generated<Timestamp>;
  updated_at: Generated<Timestamp>;
};

export type TrackedRunsTable = {
  run_id: string;
  service: string;
  user_id: string;
  remote_id: string | null;
  url: string | null;
  points_sent: Generated<number>;
  step_sent: Generated<number>;
  last_values: Generated<Json>;
  closed_at: Timestamp | null;
  trouble: string | null;
};

export type TrackersTable = {
  user_id: string;
  service: string;
  project: string;
  url: string | null;
  encrypted: Buffer | null;
  account: string | null;
  connected_at: Timestamp;
  trouble: string | null;
  is_refused: Generated<boolean>;
};

export type TrainingConfigurationsTable = {
  id: Generated<string>;
  user_id: string;
  name: string;
  payload: Json;
  created_at: Generated<Timestamp>;
};

export type UploadPartsTable = {
  upload_id: string;
  number: number;
  sha256: string;
  size_bytes: bigint;
  received_at: Generated<Timestamp>;
};

export type UploadsTable = {
  id: Generated<string>;
  user_id: string;
  store_key: string;
  size_bytes: bigint;
  part_bytes: bigint;
  announced_sha256: string | null;
  sha256: string | null;
  created_at: Generated<Timestamp>;
  completed_at: Timestamp | null;
};

export type UsageEventsTable = {
  day: string;
  window_id: string;
  n: bigint;
  id: string;
  at: Timestamp;
  amount_micro: bigint;
  quantities: Json;
};

export type UsageLeadersTable = {
  id: string;
  lease_until: Timestamp;
};

export type UsageWindowsTable = {
  id: string;
  user_id: string;
  key_id: string | null;
  source: string;
  leader_id: string;
  hold_id: string;
  events: Generated<bigint>;
  used_micro: Generated<bigint>;
  quantities: Generated<Json>;
  digest: Generated<Buffer>;
  opened_at: Timestamp;
  closed_at: Timestamp | null;
};

export type UserStorageTable = {
  user_id: string;
  bytes: Generated<bigint>;
};

export type UsersTable = {
  id: string;
  name: string;
  username: string;
  email: string;
  email_verified: Generated<boolean>;
  image: string | null;
  created_at: Generated<Timestamp>;
  updated_at: Generated<Timestamp>;
  deleted_at: Timestamp | null;
  purged_at: Timestamp | null;
  onboarding_dismissed_at: Timestamp | null;
  is_returning: Generated<boolean>;
};

export type VerificationsTable = {
  id: string;
  identifier: string;
  value: string;
  expires_at: Timestamp;
  created_at: Generated<Timestamp>;
  updated_at: Generated<Timestamp>;
};

export type WorkloadArtefactsTable = {
  workload_id: string;
  path: string;
  sha256: string;
  size_bytes: bigint;
  stored_at: Timestamp;
};

export type WorkloadInputsTable = {
  workload_id: string;
  sha256: string;
  size_bytes: bigint;
};

export type WorkloadLogsTable = {
  workload_id: string;
  id: GeneratedAlways<bigint>;
  at: Timestamp;
  line: string;
};

export type WorkloadMetricsTable = {
  workload_id: string;
  step: number;
  at: Timestamp;
  values: Json;
};

export type WorkloadsTable = {
  id: Generated<string>;
  user_id: string | null;
  behaviour: string;
  kind: string;
  title: string;
  spec: Json;
  accelerator: string | null;
  accelerator_count: number;
  expected_seconds: number | null;
  wanted: Generated<string>;
  state: Generated<string>;
  reason: Generated<string>;
  devices: number[] | null;
  attempt: Generated<number>;
  token_sha256: Buffer | null;
  interrupted: Generated<boolean>;
  restarts: Generated<number>;
  failures: Generated<number>;
  accepted_seq: Generated<number>;
  phase: string | null;
  done: number | null;
  total: number | null;
  unit: string | null;
  remaining_seconds: number | null;
  step: Generated<number>;
  steps_total: Generated<number>;
  base_url: string | null;
  outcome: Json | null;
  active_seconds: Generated<number>;
  saved_seconds: Generated<number>;
  lock_token: string | null;
  locked_until: Timestamp | null;
  check_at: Timestamp;
  created_at: Timestamp;
  queued_at: Timestamp;
  not_before: Timestamp;
  attempt_started_at: Timestamp | null;
  started_at: Timestamp | null;
  ready_at: Timestamp | null;
  last_report_at: Timestamp | null;
  stop_requested_at: Timestamp | null;
  stop_reason: string | null;
  ended_at: Timestamp | null;
  files_removed_at: Timestamp | null;
  server_key: string | null;
  machine_id: string | null;
  output_cursor: string | null;
  checkpoint_seconds: Generated<number>;
  phase_counted: Generated<boolean>;
  drain_seconds: Generated<number>;
  server_url: string | null;
  killed_for: string | null;
  spec_kind: GeneratedAlways<string | null>;
  spec_engine: GeneratedAlways<string | null>;
  adapter_names: GeneratedAlways<string[]>;
  owner_gone: Generated<boolean>;
  address: string | null;
  deployment_id: string | null;
};

export type XAccountsTable = {
  user_id: string;
  x_user_id: string;
  username: string;
  access_token: Buffer;
  refresh_token: Buffer;
  expires_at: Timestamp;
  connected_at: Timestamp;
};

export type XPostsTable = {
  user_id: string;
  claimed_at: Timestamp;
  post_id: string | null;
};

export type DB = {
  access_requests: AccessRequestsTable;
  api_keys: ApiKeysTable;
  asset_downloads: AssetDownloadsTable;
  asset_files: AssetFilesTable;
  asset_lineage: AssetLineageTable;
  asset_old_names: AssetOldNamesTable;
  asset_shares: AssetSharesTable;
  asset_sources: AssetSourcesTable;
  asset_uploads: AssetUploadsTable;
  assets: AssetsTable;
  audit_log: AuditLogTable;
  batch_lines: BatchLinesTable;
  blob_cids: BlobCidsTable;
  blob_deletions: BlobDeletionsTable;
  blob_owners: BlobOwnersTable;
  blobs: BlobsTable;
  bulk_answers: BulkAnswersTable;
  card_data: CardDataTable;
  chat_requests: ChatRequestsTable;
  column_statistics: ColumnStatisticsTable;
  contact_messages: ContactMessagesTable;
  conversations: ConversationsTable;
  credit_code_redemptions: CreditCodeRedemptionsTable;
  credit_codes: CreditCodesTable;
  data_readings: DataReadingsTable;
  deployments: DeploymentsTable;
  draft_chunks: DraftChunksTable;
  draft_documents: DraftDocumentsTable;
  draft_rows: DraftRowsTable;
  file_purposes: FilePurposesTable;
  fine_tuned_models: FineTunedModelsTable;
  fine_tuning_jobs: FineTuningJobsTable;
  generation_outputs: GenerationOutputsTable;
  generation_previews: GenerationPreviewsTable;
  generation_queue: GenerationQueueTable;
  generation_turns: GenerationTurnsTable;
  generations: GenerationsTable;
  held_out_answers: HeldOutAnswersTable;
  hub_clone_files: HubCloneFilesTable;
  hub_clone_lines: HubCloneLinesTable;
  hub_clones: HubClonesTable;
  hub_tokens: HubTokensTable;
  hub_xorbs: HubXorbsTable;
  idempotency_keys: IdempotencyKeysTable;
  input_pictures: InputPicturesTable;
  ipfs_pins: IpfsPinsTable;
  job_outcomes: JobOutcomesTable;
  known_addresses: KnownAddressesTable;
  ledger_accounts: LedgerAccountsTable;
  ledger_daily: LedgerDailyTable;
  ledger_given: LedgerGivenTable;
  ledger_holds: LedgerHoldsTable;
  ledger_key_daily: LedgerKeyDailyTable;
  ledger_key_totals: LedgerKeyTotalsTable;
  ledger_last_proof: LedgerLastProofTable;
  ledger_sealed_totals: LedgerSealedTotalsTable;
  ledger_seals: LedgerSealsTable;
  ledger_transfers: LedgerTransfersTable;
  licence_acceptances: LicenceAcceptancesTable;
  low_balance_look: LowBalanceLookTable;
  low_balance_watch: LowBalanceWatchTable;
  machines: MachinesTable;
  model_servers: ModelServersTable;
  notifications: NotificationsTable;
  onboarding_steps: OnboardingStepsTable;
  outgoing_mails: OutgoingMailsTable;
  preparations: PreparationsTable;
  price_changes: PriceChangesTable;
  processes: ProcessesTable;
  purchases: PurchasesTable;
  rate_counts: RateCountsTable;
  readiness_checks: ReadinessChecksTable;
  recent_changes: RecentChangesTable;
  referral_codes: ReferralCodesTable;
  referrals: ReferralsTable;
  responses: ResponsesTable;
  restricted_models: RestrictedModelsTable;
  revision_branches: RevisionBranchesTable;
  revision_cids: RevisionCidsTable;
  revision_tags: RevisionTagsTable;
  revisions: RevisionsTable;
  run_checkpoints: RunCheckpointsTable;
  run_samples: RunSamplesTable;
  runs: RunsTable;
  serving_workloads: ServingWorkloadsTable;
  sessions: SessionsTable;
  share_links: ShareLinksTable;
  sign_in_methods: SignInMethodsTable;
  tracked_runs: TrackedRunsTable;
  trackers: TrackersTable;
  training_configurations: TrainingConfigurationsTable;
  upload_parts: UploadPartsTable;
  uploads: UploadsTable;
  usage_events: UsageEventsTable;
  usage_leaders: UsageLeadersTable;
  usage_windows: UsageWindowsTable;
  user_storage: UserStorageTable;
  users: UsersTable;
  verifications: VerificationsTable;
  workload_artefacts: WorkloadArtefactsTable;
  workload_inputs: WorkloadInputsTable;
  workload_logs: WorkloadLogsTable;
  workload_metrics: WorkloadMetricsTable;
  workloads: WorkloadsTable;
  x_accounts: XAccountsTable;
  x_posts: XPostsTable;
};
