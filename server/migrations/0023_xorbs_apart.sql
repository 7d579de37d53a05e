-- Xorbs are kept apart from what their user stores: a file counted twice, as its pieces and as itself.
alter table blob_owners
  drop constraint blob_owners_owner_kind_check,
  add constraint blob_owners_owner_kind_check check (owner_kind in ('user', 'starter', 'workload', 'xorb'));

insert into blob_owners (sha256, owner_kind, owner_id, size_bytes, refs)
select sha256, 'xorb', user_id, max(size_bytes), count(*) from hub_xorbs
group by sha256, user_id
order by sha256, user_id;

update blob_owners o set refs = o.refs - xorbs.refs
from (select sha256, user_id, count(*) as refs from hub_xorbs group by sha256, user_id) as xorbs
where o.sha256 = xorbs.sha256 and o.owner_kind = 'user' and o.owner_id = xorbs.user_id;

delete from blob_owners where owner_kind = 'user' and refs = 0;
