-- The replicas of a deployment that has ended go with it; its first model server tells where it ran.
delete from model_servers using deployments
where deployments.id = model_servers.deployment_id and deployments.terminated_at is not null
  and model_servers.replica > 1 and model_servers.workload_id is null and model_servers.next_workload_id is null;
