-- What operators have made of the prices of prices.ts. A price is that of the latest moment which has come, else the
-- default. Rows stay: they are its history.
create table price_changes (
  id uuid primary key default uuidv7(),
  price_id text not null,
  unit_price_micro bigint not null constraint price_changes_unit_price_positive check (unit_price_micro > 0),
  -- What it was when this was decided.
  previous_micro bigint not null constraint price_changes_previous_positive check (previous_micro > 0),
  valid_from timestamptz not null,
  changed_by text not null references users (id),
  created_at timestamptz not null,
  -- Another change was made before its moment came.
  withdrawn_at timestamptz,
  constraint price_changes_withdrawn_before check (withdrawn_at is null or withdrawn_at < valid_from)
);
create index price_changes_by_user on price_changes (changed_by);
create index price_changes_in_force on price_changes (price_id, valid_from desc, id desc) where withdrawn_at is null;

create trigger price_changes_tell after insert or update or delete on price_changes
  for each row execute function tell_row_change('price', 'price_id');

-- A run keeps the price that it began with, and a deployment that of its open hold.
alter table runs add column unit_price_micro bigint constraint runs_unit_price_positive check (unit_price_micro > 0);
alter table deployments add column unit_price_micro bigint
  constraint deployments_unit_price_positive check (unit_price_micro > 0);

-- Until now all were those of the price list.
create temporary table price_list (price_id text primary key, unit_price_micro bigint) on commit drop;
insert into price_list values
  ('training:NVIDIA_TESLA_V100', 25000000),
  ('training:NVIDIA_TESLA_A100', 40000000),
  ('training:NVIDIA_TESLA_A100_80GB', 50000000),
  ('training:NVIDIA_H100_80GB', 75000000),
  ('training:CPU', 2500000),
  ('text_serving:GPU', 40000000),
  ('text_serving:CPU', 1250000);
update runs set unit_price_micro = price_list.unit_price_micro from price_list where runs.price_id = price_list.price_id;
update deployments set unit_price_micro = price_list.unit_price_micro from price_list
  where deployments.price_id = price_list.price_id;

alter table runs alter column unit_price_micro set not null;
alter table deployments alter column unit_price_micro set not null;
