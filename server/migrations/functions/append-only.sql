-- Tables whose rows are never deleted; in the first three, rows never change either.

create or replace function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;

create or replace trigger audit_log_append_only before update or delete or truncate on audit_log
  for each statement execute function refuse_change();
create or replace trigger ledger_transfers_append_only before update or delete or truncate on ledger_transfers
  for each statement execute function refuse_change();
create or replace trigger ledger_seals_append_only before update or delete or truncate on ledger_seals
  for each statement execute function refuse_change();
create or replace trigger ledger_given_kept before delete or truncate on ledger_given
  for each statement execute function refuse_change();
create or replace trigger ledger_holds_kept before delete or truncate on ledger_holds
  for each statement execute function refuse_change();
-- A hold never changes after it has ended.
create or replace trigger ledger_holds_ended_stay before update on ledger_holds
  for each row when (old.status <> 'pending') execute function refuse_change();
