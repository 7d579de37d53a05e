-- What has changed is told by the name or id under which processes know what they keep of it, so that they forget
-- that and nothing else: the second argument of the trigger is its column, 'id' where there is none or it is null.
create or replace function tell_row_change() returns trigger language plpgsql as $$
begin
  -- Before and after, for a name that changes: PostgreSQL delivers equal messages of a transaction once.
  perform pg_notify('bakehouse_row_change', json_build_object('of', tg_argv[0], 'id', told.id)::text)
  from (values (to_jsonb(old)), (to_jsonb(new))) as version (fields),
    lateral (select coalesce(fields->>tg_argv[1], fields->>'id') as id) as told
  where told.id is not null;
  return null;
end $$;

drop trigger deployments_tell_start on deployments;
drop trigger deployments_tell_change on deployments;
drop trigger model_servers_tell_change on model_servers;
drop trigger workloads_tell_change on workloads;

-- By its name: it takes the name of a starter model over, and gives it back.
create trigger deployments_tell_start after insert or delete on deployments
  for each row execute function tell_row_change('deployment', 'model_name');
create trigger deployments_tell_change after update on deployments for each row when (
  (old.model_server_id, old.model_name, old.adapter, old.revision_id, old.sleeping, old.terminated_at)
  is distinct from
  (new.model_server_id, new.model_name, new.adapter, new.revision_id, new.sleeping, new.terminated_at)
) execute function tell_row_change('deployment', 'model_name');
-- One of a deployment's own by the id of the deployment: what is kept does not know a replica that has just come.
create trigger model_servers_tell_change after update on model_servers for each row when (
  (old.engine, old.accelerator, old.starter_name, old.starter_requested_at is null, old.workload_id)
  is distinct from
  (new.engine, new.accelerator, new.starter_name, new.starter_requested_at is null, new.workload_id)
) execute function tell_row_change('model_server', 'deployment_id');
create trigger workloads_tell_change after update on workloads for each row when (
  new.behaviour = 'deployment'
  and (old.state, old.base_url, old.server_key) is distinct from (new.state, new.base_url, new.server_key)
) execute function tell_row_change('workload');
