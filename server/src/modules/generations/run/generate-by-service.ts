import { toJson } from '../../../platform/db/database.ts';
import { LeaseLost } from '../../../platform/leases/hold-lease.ts';
import { renewLease } from '../../../platform/leases/leased-table.ts';
import { generateUpstream } from '../../providers/generate-upstream.ts';
import { generationMetadata } from '../generation-metadata.ts';
import { mediumOf } from '../media-table.ts';
import { readInput } from '../sources/read-input.ts';
import type { Attempt, Generated, RunningParts } from './attempt.ts';
import { fetchOutputs } from './fetch-outputs.ts';
import { generationsTable } from './generations-table.ts';
import { attemptOf, waitsFree } from './plan-generation.ts';
import { begun } from './progress.ts';

/**
 * Generates at a service. Saves the job before waiting, so that the next attempt resumes it. Throws the
 * errors of `generateUpstream`, and LeaseLost.
 */
export async function generateByService(
  { services }: RunningParts,
  { lease, report, signal, keep }: Attempt,
): Promise<Generated> {
  const { db, clock, config } = services;
  const { generator, model, prompt, parameters, upstream_job, user_id: userId, asked } = lease.row;
  const medium = mediumOf(generator);
  report.update({ ...begun, reason: '' });
  const generated = await generateUpstream(
    {
      ...{ generator, model, prompt, parameters, wishes: asked ?? {} },
      readPicture: () => readInput(services, lease.row),
    },
    {
      config,
      clock,
      job: upstream_job,
      keepJob: async (job) => {
        const values = {
          upstream_job: job && toJson(job),
          // A submission may be charged, so it counts as an attempt: a server that crashes repeatedly must
          // not resubmit forever.
          ...(job?.handle === null && { attempt: attemptOf(lease) }),
        };
        if (!(await renewLease(db, generationsTable, lease, { now: clock.now(), values })))
          throw new LeaseLost();
      },
      onWait: ({ reason, isGenerating }) =>
        report.update({ ...begun, state: isGenerating ? 'running' : 'starting', reason }),
      msMax: medium.serviceMsMax,
      signal,
    },
  );
  const metadata = generationMetadata(lease.row);
  const outputs = await fetchOutputs(generated, {
    ...{ userId, medium, signal },
    waitsForAll: waitsFree(lease.row.started_at, clock.now()),
    keep: (bytes) => keep({ bytes, metadata }),
  });
  return { outputs, revisionId: null, details: {} };
}
