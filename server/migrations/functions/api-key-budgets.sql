-- Returns the start of the current period; '-infinity' for a budget without a period.
create or replace function budget_period_start(p_period text, p_now timestamptz) returns timestamptz language sql stable as $$
  select case when p_period in ('day', 'month') then date_trunc(p_period, p_now, 'UTC') else '-infinity' end
$$;

-- Returns when the budget resets; null: never.
create or replace function budget_renews_at(p_period text, p_now timestamptz) returns timestamptz language sql stable as $$
  select case when p_period in ('day', 'month')
    then (date_trunc(p_period, p_now at time zone 'UTC') + ('1 ' || p_period)::interval) at time zone 'UTC'
  end
$$;

-- Counts each hold that names an API key (refs.key_id) against the budget of that key, with its full amount while
-- it is open. Raises BK402 if the budget does not cover the hold. The function that changed the hold has already
-- locked the user's account, so locks are acquired in a fixed order.
create or replace function count_hold_for_key() returns trigger language plpgsql as $$
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

create or replace trigger ledger_holds_count_for_key after insert on ledger_holds
  for each row when (new.refs ? 'key_id') execute function count_hold_for_key();
-- Skips updates that only extend the expiry: they do not lock the account.
create or replace trigger ledger_holds_count_change_for_key after update on ledger_holds
  for each row when (new.refs ? 'key_id' and (old.amount, old.status) <> (new.amount, new.status))
  execute function count_hold_for_key();
