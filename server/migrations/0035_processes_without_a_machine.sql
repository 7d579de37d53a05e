-- Where the files lie in a bucket, a process that only answers requests or does jobs belongs to no machine.
alter table processes alter column machine_id drop not null;
-- Over the server's secret, as in machines: those that live at once have the same one.
alter table processes add column secret_check bytea;
