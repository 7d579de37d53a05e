-- How long a workload that is to stop may finish what it has begun, where that is longer than usual.
alter table workloads add column drain_seconds integer not null default 0;
