-- An installation has one machine of its own, and one cluster. Of several machines the one that holds the files stays,
-- else the one that was seen last.
create temporary table machines_leaving on commit drop as
  select id, first_value(id) over (
    partition by driver = 'kubernetes' order by holds_blobs desc, seen_at desc nulls last, started_at, id) as staying
  from machines;
delete from machines_leaving where id = staying;

-- What had begun on the others is interrupted: nothing of it is there, so that it goes on from what it has uploaded.
update workloads set machine_id = staying, interrupted = true
from machines_leaving where machine_id = machines_leaving.id
  and ended_at is null and (state <> 'queued' or devices is not null);
update workloads set machine_id = null
from machines_leaving where machine_id = machines_leaving.id;
alter table workloads drop column lost_machine_id, drop column lost_seconds;

-- What is prepared is prepared on the own one.
delete from preparations where machine_id in (select id from machines_leaving);
alter table preparations drop column machine_id;
alter table preparations add primary key (id);

delete from processes where machine_id in (select id from machines_leaving);
delete from machines where id in (select id from machines_leaving);
-- Processes compare their secrets.
alter table machines drop column secret_check;
drop index machines_blob_holder;
create unique index machines_one_of_each on machines ((driver = 'kubernetes'));
