-- Sweeps are gone. Their runs, and what these were charged, stay.
alter table runs drop column sweep_id;
drop table sweeps;
delete from notifications where kind = 'sweep_ended';
