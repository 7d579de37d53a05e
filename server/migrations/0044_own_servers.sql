-- The deployment whose own model server it is (`model_servers.deployment_id`): what is in front of its replicas finds it by it.
alter table workloads add column deployment_id uuid;
update workloads set deployment_id = model_servers.deployment_id
  from model_servers where workloads.id in (model_servers.workload_id, model_servers.next_workload_id);
