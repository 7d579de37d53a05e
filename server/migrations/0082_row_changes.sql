-- What processes keep of these rows in memory (platform/cache/row-changes.ts) they forget when it changes. Only
-- what it is made from counts: PostgreSQL lets transactions with a NOTIFY commit one after the other, and
-- much is written into these rows that nobody keeps.
create function tell_row_change() returns trigger language plpgsql as $$
begin
  perform pg_notify('bakehouse_row_change', json_build_object('of', tg_argv[0], 'id', coalesce(new.id, old.id))::text);
  return null;
end $$;

-- Whom an API key stands for, and what it opens.
create trigger api_keys_tell_change after update on api_keys for each row when (
  (old.sha256, old.previous_sha256, old.previous_until, old.scopes, old.budget_micro, old.expires_at, old.revoked_at)
  is distinct from
  (new.sha256, new.previous_sha256, new.previous_until, new.scopes, new.budget_micro, new.expires_at, new.revoked_at)
) execute function tell_row_change('api_key');
create trigger api_keys_tell_end after delete on api_keys for each row execute function tell_row_change('api_key');
create trigger users_tell_change after update on users for each row when (
  (old.email, old.email_verified) is distinct from (new.email, new.email_verified)
) execute function tell_row_change('user');

-- Where a request for a model goes.
create trigger deployments_tell_start after insert or delete on deployments
  for each row execute function tell_row_change('upstream');
create trigger deployments_tell_change after update on deployments for each row when (
  (old.model_server_id, old.model_name, old.adapter, old.revision_id, old.sleeping, old.terminated_at)
  is distinct from
  (new.model_server_id, new.model_name, new.adapter, new.revision_id, new.sleeping, new.terminated_at)
) execute function tell_row_change('upstream');
create trigger model_servers_tell_change after update on model_servers for each row when (
  (old.engine, old.accelerator, old.starter_name, old.starter_requested_at is null, old.workload_id)
  is distinct from
  (new.engine, new.accelerator, new.starter_name, new.starter_requested_at is null, new.workload_id)
) execute function tell_row_change('upstream');
create trigger workloads_tell_change after update on workloads for each row when (
  new.behaviour = 'deployment'
  and (old.state, old.base_url, old.server_key) is distinct from (new.state, new.base_url, new.server_key)
) execute function tell_row_change('upstream');
