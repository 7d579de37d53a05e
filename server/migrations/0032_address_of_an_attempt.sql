-- The host at which a workload answers, where its driver says so; null: its machine's.
alter table workloads add column address text;
