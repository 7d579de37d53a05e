-- What a model server answers for together with others: the replicas of a deployment.
alter table workloads add column service_id uuid;
