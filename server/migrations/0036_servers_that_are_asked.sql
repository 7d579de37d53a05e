-- The model servers that a process has sent requests to since its last beat: their places are shared by those who do.
alter table processes add column asked text[] not null default '{}';
