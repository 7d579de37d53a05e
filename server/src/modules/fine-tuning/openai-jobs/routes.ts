import { fromFlatId } from '@bakehouse/contract/fields/flat-id';
import * as contract from '@bakehouse/contract/fine-tuning-jobs';
import { type Binding, type BindOptions, bind } from '../../../platform/http/bind.ts';
import { resumeRun } from '../runs/resume-run.ts';
import { cancelRun } from '../runs/runs.ts';
import type { TrainingParts } from '../validation/check-fine-tune.ts';
import { createJob } from './create-job.ts';
import { listCheckpoints, listEvents } from './events.ts';
import { listJobs, readJobRun, toOneJob } from './jobs.ts';

/** OpenAI's fine-tuning API. `readsAFile` limits calls that read a whole data file. */
export function openAiJobRoutes(parts: TrainingParts, readsAFile: BindOptions): Binding[] {
  const runOf = (id: string) => ({ runId: fromFlatId(id) });
  return [
    bind(
      contract.createFineTuningJob,
      (ctx, input, { client }) => createJob(ctx, parts, input, client.signal),
      readsAFile,
    ),
    bind(contract.listFineTuningJobs, listJobs),
    bind(contract.getFineTuningJob, async (ctx, { params: { fine_tuning_job_id: id } }) =>
      toOneJob(ctx, await readJobRun(ctx, id)),
    ),
    bind(contract.cancelFineTuningJob, async (ctx, { params: { fine_tuning_job_id: id } }) => {
      await readJobRun(ctx, id);
      const run = await cancelRun(ctx, { params: runOf(id), query: undefined, body: undefined });
      return toOneJob(ctx, run);
    }),
    bind(contract.resumeFineTuningJob, async (ctx, { params: { fine_tuning_job_id: id } }) => {
      await readJobRun(ctx, id);
      const asked = { params: runOf(id), query: undefined, body: { ceiling: undefined } };
      return toOneJob(ctx, await resumeRun(ctx, parts, asked));
    }),
    bind(contract.listFineTuningEvents, listEvents),
    bind(contract.listFineTuningCheckpoints, listCheckpoints),
  ];
}
