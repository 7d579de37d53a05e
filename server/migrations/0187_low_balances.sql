-- How far the ledger has been looked at for balances that are low, and by which limit: each minute only what has moved since
-- is looked at.
create table low_balance_look (
  single boolean primary key default true check (single),
  limit_micro bigint not null,
  seq bigint not null
);
