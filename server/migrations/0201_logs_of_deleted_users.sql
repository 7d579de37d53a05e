-- Users who were deleted before it was noted with their work: what still has files is visited for them, and its log goes then.
update workloads set owner_gone = true
where not owner_gone and user_id in (select id from users where deleted_at is not null);
-- Nobody visits the others again.
delete from workload_logs using workloads
where workload_id = workloads.id and owner_gone and files_removed_at is not null;
