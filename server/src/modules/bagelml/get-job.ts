import type { Job } from '@bakehouse/contract/bagelml';
import type { Context } from '../../platform/context.ts';
import { getRun } from '../training/runs/get-run.ts';
import { toJob } from './to-job.ts';

/** Returns a run of the caller. */
export async function getJob(ctx: Context, { jobId }: { jobId: string }): Promise<Job> {
  return toJob(await getRun(ctx, { params: { runId: jobId }, query: undefined, body: undefined }));
}
