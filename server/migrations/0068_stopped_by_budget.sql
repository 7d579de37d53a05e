-- The budget of the API key that started a run may end it, too.
alter table runs
  drop constraint runs_stop_reason_known,
  add constraint runs_stop_reason_known check (stop_reason in ('ceiling', 'credits', 'budget'));
