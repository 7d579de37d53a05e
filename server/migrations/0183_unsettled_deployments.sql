-- Deployments that have stopped and are to be settled: looked for each minute, among all that there ever were.
create index deployments_unsettled on deployments (id)
  where hold_id is not null and (sleeping or terminated_at is not null);
