import type { Job } from '@bakehouse/contract/bagelml';
import type { Run } from '@bakehouse/contract/runs';

/** Returns a run in the format of the original product's clients. */
export function toJob(run: Run): Job {
  const { state, reason, progress, created_at, started_at, ended_at } = run;
  return {
    job_id: run.run_id,
    asset_id: run.model_id,
    model_name: run.title,
    created_by: run.user_id,
    status: state,
    reason,
    progress,
    base_model: run.base_model.dataset_id,
    dataset_id: run.dataset.dataset_id,
    // The original product does not train on pictures.
    file_name: run.dataset.file_name ?? '',
    created_at,
    started_at,
    ended_at,
  };
}
