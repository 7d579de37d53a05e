-- A run trains a language model, or a LoRA of an image model on pictures.
alter table runs add column kind text not null default 'text'
  constraint runs_kind_known check (kind in ('text', 'pictures'));
create index runs_by_kind on runs (user_id, kind, created_at desc, id desc);

-- What each checkpoint of a run on pictures has drawn; step 0 is the base model.
create table run_samples (
  run_id uuid not null references runs (id) on delete cascade,
  step integer not null check (step >= 0),
  number integer not null check (number >= 0),
  user_id text not null references users (id),
  sha256 text not null references blobs (sha256),
  size_bytes bigint not null,
  width integer not null check (width > 0),
  height integer not null check (height > 0),
  primary key (run_id, step, number)
);
create index run_samples_of_user on run_samples (user_id);
create index run_samples_sha256 on run_samples (sha256);
