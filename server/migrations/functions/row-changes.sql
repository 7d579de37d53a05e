-- Processes cache data from these rows (platform/cache/row-changes.ts) and invalidate it when the rows change. Only
-- changes to cached columns notify: PostgreSQL serializes the commits of transactions with a NOTIFY, and many updates
-- of these rows concern other columns.

-- Sends the cache key of the changed row, so that processes invalidate only that entry. The second argument of the
-- trigger is the column of the key; defaults to 'id' if there is no such argument or the column is null.
create or replace function notify_row_change() returns trigger language plpgsql as $$
begin
  -- Notify for the old and the new key, which may differ: PostgreSQL delivers equal messages of a transaction once.
  perform pg_notify('bakehouse_row_change', json_build_object('of', tg_argv[0], 'id', told.id)::text)
  from (values (to_jsonb(old)), (to_jsonb(new))) as version (fields),
    lateral (select coalesce(fields->>tg_argv[1], fields->>'id') as id) as told
  where told.id is not null;
  return null;
end $$;

-- The user and the permissions of an API key.
create or replace trigger api_keys_notify_change after update on api_keys for each row when (
  (old.sha256, old.previous_sha256, old.previous_until, old.scopes, old.budget_micro, old.expires_at, old.revoked_at)
  is distinct from
  (new.sha256, new.previous_sha256, new.previous_until, new.scopes, new.budget_micro, new.expires_at, new.revoked_at)
) execute function notify_row_change('api_key');
create or replace trigger api_keys_notify_end after delete on api_keys
  for each row execute function notify_row_change('api_key');
create or replace trigger users_notify_change after update on users for each row when (
  (old.email, old.email_verified) is distinct from (new.email, new.email_verified)
) execute function notify_row_change('user');

-- Routing of requests for a model. A deployment is cached by model name, because it can take over the name of a starter
-- model and later release it.
create or replace trigger deployments_notify_start after insert or delete on deployments
  for each row execute function notify_row_change('deployment', 'model_name');
create or replace trigger deployments_notify_change after update on deployments for each row when (
  (old.model_server_id, old.model_name, old.adapter, old.revision_id, old.sleeping, old.terminated_at)
  is distinct from
  (new.model_server_id, new.model_name, new.adapter, new.revision_id, new.sleeping, new.terminated_at)
) execute function notify_row_change('deployment', 'model_name');
-- The model servers of a deployment are cached by the id of the deployment: the cached entry does not contain a new
-- replica yet.
create or replace trigger model_servers_notify_change after update on model_servers for each row when (
  (old.engine, old.accelerator, old.starter_name, old.starter_requested_at is null, old.workload_id)
  is distinct from
  (new.engine, new.accelerator, new.starter_name, new.starter_requested_at is null, new.workload_id)
) execute function notify_row_change('model_server', 'deployment_id');
create or replace trigger workloads_notify_change after update on workloads for each row when (
  new.behaviour = 'deployment'
  and (old.state, old.base_url, old.server_key) is distinct from (new.state, new.base_url, new.server_key)
) execute function notify_row_change('workload');

create or replace trigger price_changes_notify after insert or update or delete on price_changes
  for each row execute function notify_row_change('price', 'price_id');
