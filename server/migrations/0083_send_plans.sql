-- Sending credits looks up some rows of each table by a key, however many there are. A plan that was made for
-- small tables reads all of them, and connections keep it while they grow: at 20,000 transfers it took four times
-- as long. So only indexes are used, and one plan does for all calls: planning took a third of each.
alter function ledger_send(text[], text[], bigint[], text[], boolean)
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
  set plan_cache_mode = force_generic_plan;
