import type { Job } from '@bakehouse/contract/bagelml';
import type { Context } from '../../platform/context.ts';
import { listRuns } from '../training/runs/list-runs.ts';
import { toJob } from './to-job.ts';

const JOBS_MAX = 100;

/** Returns the caller's latest runs, newest first. These clients do not request a second page. */
export async function listJobs(ctx: Context): Promise<Job[]> {
  const query = { model_id: undefined, recent: undefined, search: '', limit: JOBS_MAX, cursor: undefined };
  const { runs } = await listRuns(ctx, { params: undefined, query, body: undefined });
  return runs.map(toJob);
}
