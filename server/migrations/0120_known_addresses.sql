-- Which mailboxes have had an account here, so that a new account with one of them is not given again what newcomers are
-- given. Only a keyed hash is kept, also of those whose account was deleted: `accounts/mailbox-hash.ts`.
create table known_addresses (
  mailbox_hash bytea primary key,
  first_seen_at timestamptz not null default now()
);

-- The mailbox had an account before this one.
alter table users add column is_returning boolean not null default false;
