-- Every batch of seals changes many of these rows: with room left in each page the new version lies beside the old one,
-- and the table stays as small as it is.
alter table ledger_sealed_totals set (fillfactor = 40);
