import type { Job } from '@bakehouse/contract/bagelml';
import type { Context } from '../../platform/context.ts';
import { listRuns } from '../training/runs/list-runs.ts';
import { toJob } from './to-job.ts';

const JOBS_MAX = 100;

/** The caller's last runs, newest first: these clients do not ask for a second page. */
export async function listJobs(ctx: Context): Promise<Job[]> {
  const query = { model_id: undefined, recent: undefined, search: '', limit: JOBS_MAX, cursor: undefined };
  const { runs } = await listRuns(ctx, { params: undefined, query, body: undefined });
  return runs.map(toJob);
}
