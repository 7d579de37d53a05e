-- What the base and the tuned model say to rows that a run has held out, or why nobody asked them. The texts are of its
-- dataset: only who may read the run reads them, so they are not among the files of the model.
create table held_out_answers (
  run_id uuid primary key references runs (id) on delete cascade,
  answers jsonb not null
);

-- Whether the time of the phase that a workload is in is part of its work.
alter table workloads add column phase_counted boolean not null default true;
