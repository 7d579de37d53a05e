-- What deleted accounts owed, which nobody is left to pay: the installation bears it.
alter table ledger_accounts drop constraint ledger_accounts_kind_known;
alter table ledger_accounts add constraint ledger_accounts_kind_known
  check (kind in ('user', 'grants', 'payments', 'revenue', 'receivable', 'losses'));
insert into ledger_accounts (id, kind) values ('losses', 'losses');

select ledger_transfer('losses', debtors.id, debtors.owed, 'chargeback', 'Owed by an account that was deleted', '{}', null)
from (
  select receivable.id, ledger_owed(receivable.owner_user_id) as owed
  from ledger_accounts receivable join users on users.id = receivable.owner_user_id
  where receivable.kind = 'receivable' and users.deleted_at is not null
) debtors
where owed > 0;
