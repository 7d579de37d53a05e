-- When the job last asked the provider about a purchase: whoever was not asked about for longest comes first, so that none
-- that cannot be answered keeps others waiting. And payments that fit no purchase, or no account any more: a person looks at them.
alter table purchases add column looked_at timestamptz;
alter table purchases drop constraint purchases_status_known;
alter table purchases add constraint purchases_status_known
  check (status in ('open', 'paid', 'failed', 'expired', 'refused'));
create index purchases_paid on purchases (paid_at) where status = 'paid';
