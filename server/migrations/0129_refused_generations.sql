-- Whether the model refused what was asked for: the same would be refused again.
alter table generations add column refused boolean not null default false;
alter table generations add check (not refused or state = 'failed');
