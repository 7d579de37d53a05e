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
  post_id text,
  check (post_id ~ '^[0-9]+$')
);
