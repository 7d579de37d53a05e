-- Whoever would resume it has deleted the account: its files go as soon as it has ended.
alter table workloads add column given_up boolean not null default false;
create index workloads_given_up_with_files on workloads (id)
  where given_up and ended_at is not null and files_removed_at is null;
create index workloads_not_given_up on workloads (user_id) where not given_up;
