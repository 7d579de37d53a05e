-- How the attempts of each kind of job have ended, in all processes: for the metrics, which any of them may be asked for.
create table job_outcomes (
  job text primary key,
  failed bigint not null default 0,
  -- To some seconds.
  succeeded_at timestamptz
);
