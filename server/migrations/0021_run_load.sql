-- How many times longer a finished run took than it would have alone, by the load of the machine at
-- its end. Of runs before this column nobody knows: they are taken as they were.
alter table runs add column slowdown double precision not null default 1 check (slowdown >= 1);
-- How often its owner has resumed it; each round has a hold of its own.
alter table runs add column resumes integer not null default 0;
