-- What a run may cost at most, over all its rounds; and why it was stopped before its end, where not by its owner.
alter table runs
  add ceiling_micro bigint constraint runs_ceiling_positive check (ceiling_micro > 0),
  add stop_reason text constraint runs_stop_reason_known check (stop_reason in ('ceiling', 'credits'));

-- Half more than the quote; what is held or was charged already stays within it.
update runs set ceiling_micro = greatest(
  1,
  ceil((quote ->> 'total')::numeric * 1000000 * 1.5)::bigint,
  settled_micro + coalesce(charged_micro, held_micro)
);
alter table runs alter ceiling_micro set not null;
