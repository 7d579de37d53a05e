-- What only some models tell of a generation stands in one column.
alter table generations add column details jsonb not null default '{}';
update generations
set details = jsonb_strip_nulls(jsonb_build_object(
  'expert_weights', expert_weights, 'expert_used', expert_used, 'routing_confidence', routing_confidence))
where expert_weights is not null or expert_used is not null or routing_confidence is not null;
alter table generations
  drop column expert_weights, drop column expert_used, drop column routing_confidence;

-- Films have a duration, in seconds.
alter table generation_outputs
  add column duration_s double precision constraint generation_outputs_duration_check check (duration_s > 0);
