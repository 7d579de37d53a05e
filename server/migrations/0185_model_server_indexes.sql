-- Each change of a workload's state looks for the model server that it serves, and deployments by the workload that carries
-- them: without these all of both tables are read, in the engine's transactions.
create index model_servers_workload on model_servers (workload_id) where workload_id is not null;
create index model_servers_next_workload on model_servers (next_workload_id) where next_workload_id is not null;
create index deployments_carrier on deployments (carrier_id) where carrier_id is not null;
