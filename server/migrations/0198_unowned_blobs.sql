-- Whether anybody owns a blob is kept with it: the collector would look for an owner of every blob, each hour and after each deletion.
alter table blobs add column unowned boolean not null default false;
update blobs set unowned = true
where not exists (select from blob_owners where blob_owners.sha256 = blobs.sha256);
alter table blobs alter column unowned set default true;
create index blobs_unowned on blobs (touched_at) where unowned;
drop index blobs_touched_at;

-- Whoever is about to own a blob holds it by the foreign key until its transaction ends; so whoever gives one up waits for
-- them, and they for it: the last one to go sees that it is the last, and who comes after that sees that it was.
create function note_unowned_blobs() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    perform from blobs where sha256 in (select sha256 from changed) order by sha256 for update;
    update blobs b set unowned = true
    where b.sha256 in (select sha256 from changed)
      and not exists (select from blob_owners o where o.sha256 = b.sha256);
    return null;
  end if;
  perform from blobs where sha256 in (select sha256 from changed) and unowned order by sha256 for no key update;
  update blobs set unowned = false where sha256 in (select sha256 from changed) and unowned;
  return null;
end $$;

create trigger blob_owners_noted_in after insert on blob_owners referencing new table as changed
  for each statement execute function note_unowned_blobs();
create trigger blob_owners_noted_out after delete on blob_owners referencing old table as changed
  for each statement execute function note_unowned_blobs();
