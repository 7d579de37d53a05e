-- Why a deployment was stopped, where not by its owner: no credit covered its next hour, or the budget of its API key
-- was used up.
alter table deployments
  add stop_reason text constraint deployments_stop_reason_known check (stop_reason in ('credits', 'budget'));
