-- The code under which a user invites others; made when it is first asked for.
create table referral_codes (
  user_id text primary key references users (id) on delete cascade,
  code text not null unique check (code ~ '^[a-z0-9]{8}$'),
  created_at timestamptz not null default now()
);

-- Who came by whose code: at most once.
create table referrals (
  invited_user_id text primary key references users (id) on delete cascade,
  inviter_user_id text not null references users (id) on delete cascade,
  -- What each of the two was given.
  bonus_micro bigint not null check (bonus_micro >= 0),
  created_at timestamptz not null,
  check (invited_user_id <> inviter_user_id)
);
create index referrals_by_inviter on referrals (inviter_user_id, created_at desc);
