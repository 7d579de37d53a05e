-- Each proof is of all the books: none continues from another. What the last one found is in ledger_last_proof.
drop table ledger_verifications;
