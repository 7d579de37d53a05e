-- When the call that waited for the picture went away without it. The same call repeated takes it over, which ends that.
alter table generations add column left_at timestamptz;
