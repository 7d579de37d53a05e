-- What a round was estimated to cost, of a run whose user chose no ceiling: the charge stops at the ceiling and the run
-- finishes. Null: the ceiling was chosen, and the run may be stopped there.
alter table runs add estimate_micro bigint check (estimate_micro >= 0);
update runs set estimate_micro = quote.micro
from (select id, round((quote ->> 'total')::numeric * 1000000)::bigint as micro from runs) quote
where quote.id = runs.id and charged_micro is null and resumes = 0 and kind <> 'export'
  and ceiling_micro = greatest(quote.micro + (quote.micro + 1) / 2, 1);
alter table runs drop constraint runs_stop_reason_known;
alter table runs add constraint runs_stop_reason_known check (stop_reason in ('ceiling', 'credits', 'budget', 'time'));
