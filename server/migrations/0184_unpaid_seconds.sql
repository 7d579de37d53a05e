-- What rounds that were not charged have kept of a run: the next round goes on from it, and pays for it.
alter table runs add column unpaid_seconds double precision not null default 0 check (unpaid_seconds >= 0);
