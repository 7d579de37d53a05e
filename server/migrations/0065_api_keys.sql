-- A user has many API keys, each with what it may do, until when, and how much it may spend.

alter table api_keys drop constraint api_keys_pkey;
alter table api_keys
  add column id uuid not null default uuidv7() primary key,
  add column name text not null default 'Web app' check (length(name) between 1 and 100),
  add column scopes text[] not null default '{everything}'
    check (cardinality(scopes) > 0 and scopes <@ '{everything,inference,read}'),
  -- The key that the web app shows and sends; each user has one.
  add column for_web_app boolean not null default true,
  add column expires_at timestamptz,
  add column revoked_at timestamptz,
  -- The secret before the last rotation, as long as it still opens.
  add column previous_sha256 bytea unique,
  add column previous_until timestamptz,
  -- What it may spend per day, per month (in UTC) or in all; null: as much as its owner has.
  add column budget_micro bigint check (budget_micro > 0),
  add column budget_period text check (budget_period in ('day', 'month', 'total')),
  -- What was charged by holds of this key since `counted_since`, and what its open holds promise.
  add column spent_micro bigint not null default 0 check (spent_micro >= 0),
  add column held_micro bigint not null default 0 check (held_micro >= 0),
  add column counted_since timestamptz not null default now(),
  alter column encrypted drop not null,
  add constraint api_keys_only_the_web_apps_is_shown check (for_web_app = (encrypted is not null)),
  add constraint api_keys_web_app_is_unlimited
    check (not for_web_app or num_nonnulls(expires_at, revoked_at, budget_micro) = 0),
  add constraint api_keys_previous_has_end check ((previous_sha256 is null) = (previous_until is null)),
  add constraint api_keys_budget_has_period check ((budget_micro is null) = (budget_period is null));
alter table api_keys alter column name drop default, alter column for_web_app drop default;

create unique index api_keys_for_web_app on api_keys (user_id) where for_web_app;
create index api_keys_by_user on api_keys (user_id, id);

-- Since when a budget of this period counts.
create function budget_period_start(p_period text, p_now timestamptz) returns timestamptz language sql stable as $$
  select case when p_period in ('day', 'month') then date_trunc(p_period, p_now, 'UTC') else '-infinity' end
$$;

-- When it begins anew; null: never.
create function budget_renews_at(p_period text, p_now timestamptz) returns timestamptz language sql stable as $$
  select case when p_period in ('day', 'month')
    then (date_trunc(p_period, p_now at time zone 'UTC') + ('1 ' || p_period)::interval) at time zone 'UTC'
  end
$$;

-- Each hold that names its key (refs.key_id) counts against the budget of that key, whoever makes it, and
-- as long as it is open with its whole amount. More than the budget is refused with BK402. The user's account
-- is locked before, by the function that changed the hold, so that locks are taken in one order.
create function count_hold_for_key() returns trigger language plpgsql as $$
declare
  v_held bigint := case new.status when 'pending' then new.amount else 0 end;
  v_spent bigint := coalesce(new.settled_amount, 0);
  v_key api_keys;
begin
  if tg_op = 'UPDATE' then
    v_held := v_held - case old.status when 'pending' then old.amount else 0 end;
    v_spent := v_spent - coalesce(old.settled_amount, 0);
  end if;
  update api_keys k set
    held_micro = k.held_micro + v_held,
    spent_micro = v_spent + case when k.counted_since < budget_period_start(k.budget_period, now()) then 0 else k.spent_micro end,
    counted_since = greatest(k.counted_since, budget_period_start(k.budget_period, now()))
  where k.id = (new.refs ->> 'key_id')::uuid
  returning * into v_key;
  if v_held > 0 and v_key.spent_micro + v_key.held_micro > v_key.budget_micro then
    raise exception 'the budget of the key does not cover the hold' using errcode = 'BK402',
      detail = jsonb_build_object('required', v_held::text, 'key_id', v_key.id, 'key_name', v_key.name,
        'amount', v_key.budget_micro::text, 'period', v_key.budget_period,
        'renews_at', budget_renews_at(v_key.budget_period, now()))::text;
  end if;
  return null;
end $$;

create trigger ledger_holds_count_for_key after insert on ledger_holds
  for each row when (new.refs ? 'key_id') execute function count_hold_for_key();
-- Not where a hold only lives longer: the account is not locked there.
create trigger ledger_holds_count_change_for_key after update on ledger_holds
  for each row when (new.refs ? 'key_id' and (old.amount, old.status) <> (new.amount, new.status))
  execute function count_hold_for_key();

-- Whose budget the holds that come later count against.
alter table runs add column key_id uuid;
alter table deployments add column key_id uuid;
