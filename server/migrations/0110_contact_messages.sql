-- What users have written to the operators.
create table contact_messages (
  id uuid primary key default uuidv7(),
  user_id text not null references users (id) on delete cascade,
  subject text not null check (length(subject) between 1 and 200),
  message text not null check (length(message) between 1 and 5000),
  status text not null default 'new' check (status in ('new', 'read', 'answered')),
  created_at timestamptz not null default now()
);
create index contact_messages_by_user on contact_messages (user_id);
create index contact_messages_by_status on contact_messages (status, id desc);
