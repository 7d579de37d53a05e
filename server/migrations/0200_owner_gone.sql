-- What was given up is a workload's files (files_removed_at); this says that nobody is there any more who would resume it:
-- its files go as soon as it has ended, and what it has printed goes with them.
alter table workloads rename column given_up to owner_gone;
alter index workloads_given_up_with_files rename to workloads_owner_gone_with_files;
alter index workloads_not_given_up rename to workloads_owner_not_gone;
