-- How far a workload's output has been copied into its log, in its driver's own terms.
alter table workloads add column output_cursor text;
update workloads set output_cursor = output_offset::text where output_offset > 0;
alter table workloads drop column output_offset;
