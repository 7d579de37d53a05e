-- The LoRA of each checkpoint of a run on pictures, and the model that was made of it. Its bytes go a week after the run has
-- ended, and those of all but the newest checkpoints before.
create table run_checkpoints (
  run_id uuid not null references runs (id) on delete cascade,
  step integer not null check (step > 0),
  user_id text not null references users (id),
  -- Null: no longer kept.
  sha256 text references blobs (sha256),
  size_bytes bigint not null,
  model_asset_id uuid references assets (id) on delete set null,
  primary key (run_id, step)
);
create index run_checkpoints_of_user on run_checkpoints (user_id);
create index run_checkpoints_sha256 on run_checkpoints (sha256);
create index run_checkpoints_model on run_checkpoints (model_asset_id);
