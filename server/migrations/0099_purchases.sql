-- What users buy through a payment provider. The provider knows whether it was paid, refunded or disputed; a row says how
-- much of that the ledger has already been told.
create table purchases (
  id uuid primary key default uuidv7(),
  user_id text not null references users (id),
  usd_cents integer not null constraint purchases_usd_cents_positive check (usd_cents > 0),
  amount_micro bigint not null constraint purchases_amount_positive check (amount_micro > 0),
  -- The provider's page where it is paid, and the payment that came of it.
  session_id text unique,
  payment_id text unique,
  status text not null default 'open'
    constraint purchases_status_known check (status in ('open', 'paid', 'failed', 'expired')),
  -- Of what was paid: what a refund or a dispute took back.
  taken_back_cents integer not null default 0
    constraint purchases_taken_back_within check (taken_back_cents between 0 and usd_cents),
  receipt_url text,
  -- Grows with each change, so that what was seen before another change is not applied after it.
  version integer not null default 0,
  created_at timestamptz not null default now(),
  paid_at timestamptz
);
create index purchases_by_user on purchases (user_id, id);
create index purchases_open on purchases (created_at) where status = 'open';
