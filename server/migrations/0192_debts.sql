-- As before: books a payment that was taken back, and collects what can be; `owed` is what the user owes after that, from
-- before too.
drop function ledger_charge_back(text, bigint, text, jsonb, text);
create function ledger_charge_back(
  p_user_id text, p_amount bigint, p_description text, p_refs jsonb, p_idempotency_key text,
  out outcome text, out transfer_id uuid, out collected bigint, out owed bigint
) language plpgsql as $$
begin
  perform ledger_open_accounts(array[p_user_id]);
  insert into ledger_accounts (id, kind, owner_user_id) values ('receivable:' || p_user_id, 'receivable', p_user_id)
  on conflict do nothing;
  select t.outcome, t.transfer_id into outcome, transfer_id
  from ledger_transfer('receivable:' || p_user_id, 'payments', p_amount, 'chargeback', p_description, p_refs,
    p_idempotency_key) t;
  collected := case outcome when 'ok' then ledger_collect(p_user_id) else 0 end;
  owed := ledger_owed(p_user_id);
end $$;

-- Each minute looks for those who owe something: they are few among many accounts.
create index ledger_accounts_receivable on ledger_accounts (owner_user_id) where kind = 'receivable';
