-- Requests a CID for each new revision of an asset that uses IPFS, and cancels requests for earlier revisions.
create or replace function ask_for_cids() returns trigger language plpgsql as $$
begin
  delete from revision_cids c using made m, assets a
  where c.asset_id = m.asset_id and c.cid is null and a.id = m.asset_id and a.use_ipfs;
  insert into revision_cids (id, asset_id)
  select m.id, m.asset_id from made m join assets a on a.id = m.asset_id where a.use_ipfs;
  return null;
end $$;

create or replace trigger revisions_ask_for_cids after insert on revisions
  referencing new table as made for each statement execute function ask_for_cids();

-- Enabling IPFS requests the CID of the newest revision; disabling it deletes the CIDs of all revisions.
create or replace function choose_ipfs() returns trigger language plpgsql as $$
begin
  if not new.use_ipfs then
    delete from revision_cids where asset_id = new.id;
  elsif new.revision_id is not null then
    insert into revision_cids (id, asset_id) values (new.revision_id, new.id) on conflict do nothing;
  end if;
  return null;
end $$;

create or replace trigger assets_choose_ipfs after update of use_ipfs on assets
  for each row when (old.use_ipfs is distinct from new.use_ipfs) execute function choose_ipfs();

-- Makes the pins of a CID due for a check as soon as a revision with that CID is deleted.
create or replace function wake_pins() returns trigger language plpgsql as $$
begin
  perform from ipfs_pins where cid in (select cid from gone) order by id for update;
  update ipfs_pins set check_at = now() where cid in (select cid from gone);
  return null;
end $$;

create or replace trigger revision_cids_wake_pins after delete on revision_cids
  referencing old table as gone for each statement execute function wake_pins();
