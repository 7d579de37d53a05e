-- Conversations of the playground: one for each user and model, as the web app has it.
create table conversations (
  user_id text not null references users (id),
  -- A text deployment, or a starter model by its name.
  id text not null,
  -- Counts its saves: whoever saves says which one they have seen.
  version integer not null,
  -- Of its last save: whoever got no answer to a save knows by it that it has come.
  save_id uuid not null,
  content jsonb not null,
  size_bytes integer not null,
  saved_at timestamptz not null,
  primary key (user_id, id)
);
create index conversations_of_user on conversations (user_id, saved_at);
