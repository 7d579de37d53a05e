-- Since when, without a break, some process takes in the reports of workloads, and its last beat.
create table workload_listening (
  one boolean primary key default true check (one),
  since timestamptz not null,
  until timestamptz not null
);
