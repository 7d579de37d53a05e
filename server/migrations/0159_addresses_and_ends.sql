-- Where workloads of other machines reach a process that answers requests: the machine had one address for all of
-- them, that of the process that started last.
alter table processes add url text;
alter table machines drop url;

-- Where the present attempt reports to, and why the engine has killed it.
alter table workloads
  add server_url text,
  add killed_for text constraint workloads_killed_for_known
    check (killed_for in ('lingering', 'silent', 'loading', 'unreachable', 'overdue'));

-- Those of model servers go: their files after a day, and the rows once nobody asks for their logs.
create index workloads_servers_with_files on workloads (ended_at)
  where behaviour = 'deployment' and ended_at is not null and files_removed_at is null;
create index workloads_servers_ended on workloads (ended_at)
  where behaviour = 'deployment' and files_removed_at is not null;
