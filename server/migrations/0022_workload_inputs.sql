-- The files that a workload's spec names, so that it gets each of them without its whole spec being
-- read. Rows go with the workload's files.
create table workload_inputs (
  workload_id uuid not null references workloads (id) on delete cascade,
  sha256 text not null,
  size_bytes bigint not null,
  primary key (workload_id, sha256)
);
insert into workload_inputs (workload_id, sha256, size_bytes)
select distinct on (id, file->>'sha256') id, file->>'sha256', (file->>'size_bytes')::bigint
from workloads, jsonb_array_elements(spec->'inputs') input, jsonb_array_elements(input->'files') file
where files_removed_at is null;

-- Compared only where somebody writes it: a spec may be megabytes, and a workload changes often.
drop trigger workloads_spec on workloads;
create trigger workloads_spec before update of spec on workloads
  for each row when (old.spec is distinct from new.spec) execute function refuse_another_spec();
