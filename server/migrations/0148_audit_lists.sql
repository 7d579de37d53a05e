-- The operator's list of changes takes up what users send each other: among many charges it is rare.
create index ledger_transfers_sent on ledger_transfers (seq) where kind = 'transfer';
create index ledger_transfers_sent_by on ledger_transfers (debit_account_id, seq) where kind = 'transfer';
-- And it is narrowed to one noun, which may be rare, too.
create index audit_log_by_noun on audit_log (split_part(action, '.', 1), id desc);
