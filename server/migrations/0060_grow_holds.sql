-- A hold that grows in steps, as its work goes on. See docs/ledger.md.

-- Raises an open hold by an amount, unlike ledger_extend_hold, which raises it to one; a later expiry may
-- come with it. It is not repeatable: each call that answers ok has taken p_by more.
-- Outcomes: those of ledger_extend_hold; `amount` is what the hold has now, null where it did not grow.
create function ledger_grow_hold(
  p_hold_id uuid, p_by bigint, p_expires_at timestamptz,
  out outcome text, out amount bigint, out available bigint, out debit_account_id text
) language plpgsql as $$
declare
  v_amount bigint;
begin
  select h.amount + p_by into v_amount from ledger_holds h where h.id = p_hold_id for no key update;
  select e.outcome, e.available, e.debit_account_id into outcome, available, debit_account_id
  from ledger_extend_hold(p_hold_id, v_amount, p_expires_at) e;
  if outcome = 'ok' then amount := v_amount; end if;
end $$;
