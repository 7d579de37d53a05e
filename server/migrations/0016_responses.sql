-- Answers of /v1/responses that are kept for a time, with all that the model read before each.
create table responses (
  -- As its owner knows it: resp_ and 32 hexadecimal digits.
  id text primary key,
  user_id text not null references users (id),
  -- The items of the conversation up to the answer.
  input jsonb not null,
  response jsonb not null,
  size_bytes integer not null,
  created_at timestamptz not null
);
create index responses_of_user on responses (user_id, created_at);
create index responses_by_age on responses (created_at);
