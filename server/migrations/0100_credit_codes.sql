-- Codes that operators hand out: whoever redeems one gets its credits. Of a code only the hash is kept.
create table credit_codes (
  id uuid primary key default uuidv7(),
  sha256 bytea not null unique,
  -- Its last characters, by which people tell codes apart.
  hint text not null,
  amount_micro bigint not null constraint credit_codes_amount_positive check (amount_micro > 0),
  redemptions integer not null default 0,
  redemptions_max integer not null constraint credit_codes_redemptions_max_positive check (redemptions_max > 0),
  note text not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  created_by text not null references users (id),
  created_at timestamptz not null default now(),
  constraint credit_codes_redemptions_within check (redemptions between 0 and redemptions_max)
);
create index credit_codes_by_creator on credit_codes (created_by);

-- Each user redeems a code once.
create table credit_code_redemptions (
  code_id uuid not null references credit_codes (id),
  user_id text not null references users (id),
  redeemed_at timestamptz not null default now(),
  primary key (code_id, user_id)
);
create index credit_code_redemptions_by_user on credit_code_redemptions (user_id);
