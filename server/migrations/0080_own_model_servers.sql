-- A model server is shared by all deployments of its base, or is one deployment's own: where the
-- adapter was uploaded, and where the deployment may have several replicas. Every replica that it
-- may ever have is a row, and `replicas` of them are wanted.
alter table model_servers
  add column deployment_id uuid references deployments (id) deferrable initially deferred,
  add column replica integer not null default 1 check (replica between 1 and 8),
  add constraint model_servers_own_check check (deployment_id is null or starter_name is null),
  add constraint model_servers_replica_check1 check (deployment_id is not null or replica = 1);
alter table model_servers drop constraint model_servers_shared_key;
alter table model_servers add constraint model_servers_key unique nulls not distinct
  (kind, engine, files_sha256, accelerator, accelerator_count, deployment_id, replica);
create index model_servers_by_deployment on model_servers (deployment_id, replica) where deployment_id is not null;
-- Adapters that share a server are those of our own training: none is suspected any more.
alter table model_servers drop column cautious;

alter table deployments
  add column auto_scale boolean not null default false,
  add column min_replicas integer not null default 1,
  add column max_replicas integer not null default 1,
  -- How many are wanted now, how many have answered since `metered_at`, and when all were last needed.
  add column replicas integer not null default 1,
  add column metered_replicas integer not null default 1 check (metered_replicas >= 0),
  add column busy_at timestamptz,
  add constraint deployments_replicas_check check (
    max_replicas between 1 and 8 and min_replicas between 0 and max_replicas
    and replicas between greatest(min_replicas, 1) and max_replicas
    and (auto_scale or (min_replicas = 1 and max_replicas = 1))
  );
