-- No run trains a reward model, or learns from the scores of one, any more. Such runs stay in the list; those that have ended cannot be
-- resumed, so their checkpoints go. One that is under way fails when it starts again, and is not charged.
with ended as (
  update workloads set files_removed_at = now() from runs
  where runs.id = workloads.id and workloads.state in ('stopped', 'failed') and workloads.files_removed_at is null
    and (runs.parameters ->> 'objective' = 'reward' or runs.parameters @> '{"rewards": [{"type": "model"}]}')
  returning workloads.id
), artefacts as (
  delete from workload_artefacts using ended where workload_id = ended.id
)
delete from workload_inputs using ended where workload_id = ended.id;

delete from training_configurations where payload ->> 'objective' = 'reward';
update training_configurations
set payload = jsonb_set(payload, '{rewards}', (
  select coalesce(jsonb_agg(reward order by place), '[]')
  from jsonb_array_elements(payload -> 'rewards') with ordinality as rewards (reward, place)
  where reward ->> 'type' <> 'model'))
where payload @> '{"rewards": [{"type": "model"}]}';
