-- What somebody has sent within a day is asked before each send, under the locks of both accounts: the index has the time,
-- so that no older sends are read.
drop index ledger_transfers_sent_by;
create index ledger_transfers_sent_by on ledger_transfers (debit_account_id, created_at, seq) where kind = 'transfer';
