-- Work that was charged and then lost with its machine is done again for nothing: the run's own `settled_seconds` says
-- what was charged, and the workload counts what it has.
alter table workloads drop column resumed_seconds;
