-- Up to which seal the books were proven, and what the sums were then: the next proof continues there.
create table ledger_verifications (
  id bigint generated always as identity primary key,
  seq bigint not null references ledger_seals (seq),
  hash text not null,
  -- Of ledger_sealed_totals when the seal was the newest; see proof-queries.ts.
  totals_digest text not null,
  verified_at timestamptz not null default now()
);
create index ledger_verifications_by_seal on ledger_verifications (seq);
create trigger ledger_verifications_append_only before update or delete or truncate on ledger_verifications
  for each statement execute function refuse_change();
