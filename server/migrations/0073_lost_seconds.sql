-- Of the seconds of work that were counted, what the checkpoint on the server has saved.
alter table workloads add column checkpoint_seconds double precision not null default 0;
-- The machine that it was taken from, where its files may still be, and what was saved there. Null once
-- it has a machine again.
alter table workloads add column lost_machine_id uuid references machines (id);
alter table workloads add column lost_seconds double precision;
