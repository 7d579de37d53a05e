-- People, how they sign in, and the keys that their calls carry.
-- users, sessions, sign_in_methods and verifications are better-auth's tables under our names;
-- a test compares them with what the library expects.

create table users (
  id text primary key,
  name text not null check (length(name) between 1 and 200),
  username text not null unique check (username ~ '^[a-z0-9_-]{3,30}$'),
  email text not null unique check (email = lower(email)),
  email_verified boolean not null default false,
  image text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- Picks a free username from the part of the e-mail address before the @, for people who gave
-- none: ada, then ada-2, ada-3. It runs inside the insert, so that sign-up stays one transaction;
-- the lock lets two people with the same name sign up at once.
create function pick_username() returns trigger language plpgsql as $$
declare
  base text;
  candidate text;
  n integer := 1;
begin
  if new.username is not null then
    return new;
  end if;
  -- Letters lose their accents, all else becomes a dash.
  base := regexp_replace(normalize(lower(split_part(new.email, '@', 1)), NFD), '[\u0300-\u036f]', '', 'g');
  base := trim(both '-' from regexp_replace(base, '[^a-z0-9_]+', '-', 'g'));
  if base = '' then
    base := 'user';
  end if;
  base := left(rpad(base, greatest(length(base), 3), '0'), 24);
  perform pg_advisory_xact_lock(hashtextextended('pick_username:' || base, 0));
  candidate := base;
  while exists (select from users where username = candidate) loop
    n := n + 1;
    candidate := base || '-' || n;
  end loop;
  new.username := candidate;
  return new;
end
$$;

create trigger pick_username before insert on users
  for each row execute function pick_username();

create table sessions (
  id text primary key,
  user_id text not null references users (id) on delete cascade,
  token text not null unique,
  expires_at timestamptz not null,
  ip_address text,
  user_agent text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index sessions_user_id on sessions (user_id);

create table sign_in_methods (
  id text primary key,
  user_id text not null references users (id) on delete cascade,
  provider_id text not null,
  account_id text not null,
  password text,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz,
  refresh_token_expires_at timestamptz,
  scope text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (provider_id, account_id)
);
create index sign_in_methods_user_id on sign_in_methods (user_id);

create table verifications (
  id text primary key,
  identifier text not null,
  value text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index verifications_identifier on verifications (identifier);

-- One key per user. The row is written in the transaction that also does everything else a new
-- user needs, so its presence says that the user is complete.
create table api_keys (
  user_id text primary key references users (id) on delete cascade,
  sha256 bytea not null unique,
  -- AES-256-GCM: nonce, ciphertext, tag. The web app shows this key to its owner.
  encrypted bytea not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);

create table onboarding_steps (
  user_id text not null references users (id) on delete cascade,
  step text not null check (step in ('create_dataset', 'create_model', 'fine_tune_model')),
  completed_at timestamptz not null default now(),
  primary key (user_id, step)
);
