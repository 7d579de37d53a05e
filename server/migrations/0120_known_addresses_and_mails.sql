-- Which mailboxes have had an account here, so that a new account with one of them is not given again what newcomers are
-- given. Only a keyed hash is kept, also of those whose account was deleted: `accounts/mailbox-hash.ts`.
create table known_addresses (
  mailbox_hash bytea primary key,
  first_seen_at timestamptz not null default now()
);

-- The mailbox had an account before this one.
alter table users add column is_returning boolean not null default false;

-- Mails that have not been handed to the mail server yet. Their jobs have the id alone, since done jobs are kept for a
-- while: a link that opens an account is gone once it is sent.
create table outgoing_mails (
  id uuid primary key,
  recipient text not null,
  subject text not null,
  body text not null,
  created_at timestamptz not null default now()
);

do $$
begin
  if to_regclass('pgboss.job') is null then return; end if;
  insert into outgoing_mails (id, recipient, subject, body)
  select (data ->> 'id')::uuid, data ->> 'to', data ->> 'subject', data ->> 'text'
  from pgboss.job where name = 'platform.deliver-mail' and state in ('created', 'retry', 'active');
  update pgboss.job set data = jsonb_build_object('id', data -> 'id') where name = 'platform.deliver-mail';
end $$;
