-- Each proof is of all the books: none continues from another. The seal that was last proven goes to ledger_last_proof:
-- the next proof finds it there, or an end of the chain was cut off.
update ledger_last_proof
set report = report || jsonb_build_object('proven', jsonb_build_object('seq', last.seq::text, 'hash', last.hash))
from (select seq, hash from ledger_verifications order by id desc limit 1) as last;
drop table ledger_verifications;
