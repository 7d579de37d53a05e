-- What the hub's clients send by Xet: pieces of files, until a shard has said which files they make.
create table hub_xorbs (
  user_id text not null references users (id),
  -- A day: the client's own notes of what is here belong to one.
  session text not null,
  -- What the client calls it.
  hash text not null,
  sha256 text not null references blobs (sha256),
  size_bytes bigint not null check (size_bytes >= 0),
  created_at timestamptz not null default now(),
  primary key (user_id, session, hash)
);
create index hub_xorbs_by_time on hub_xorbs (created_at);
create index hub_xorbs_sha256 on hub_xorbs (sha256);
