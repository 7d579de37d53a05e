import { toJson } from '../../../platform/db/database.ts';
import { renewLease } from '../../../platform/leases/leased-table.ts';
import { embedMetadata } from '../../media/metadata/embed-metadata.ts';
import { generateUpstream } from '../../providers/generate-upstream.ts';
import type { GenerationRow } from '../queries.ts';
import { readInput } from '../sources/read-input.ts';
import type { Attempt, Generated, Picture, RunningParts } from './attempt.ts';
import { type FetchedPicture, fetchUpstreamPictures } from './fetch-upstream-pictures.ts';
import { generationMetadata } from './generation-metadata.ts';
import { generationsTable } from './generations-table.ts';
import { attemptOf, waitsFree } from './plan-generation.ts';
import { begun } from './progress.ts';
import { LeaseLost } from './report-progress.ts';

/**
 * Has the service generate that the generation names. Its job is in the row before it is waited for: whoever goes on with
 * the generation goes on with the job. Throws what `generateUpstream` throws, and LeaseLost.
 */
export async function generateByService(
  { services }: RunningParts,
  { lease, report, signal, keep }: Attempt,
): Promise<Generated> {
  const { db, clock, config } = services;
  const { generator, model, prompt, parameters, upstream_job } = lease.row;
  report.update({ ...begun, reason: '' });
  const generated = await generateUpstream(
    { generator, model, prompt, parameters, readPicture: () => readInput(services, lease.row) },
    {
      config,
      clock,
      job: upstream_job,
      keepJob: async (job) => {
        const values = {
          upstream_job: job && toJson(job),
          // A submission may be paid for: a server that dies again and again does not repeat it for ever.
          ...(job?.handle === null && { attempt: attemptOf(lease) }),
        };
        if (!(await renewLease(db, generationsTable, lease, { now: clock.now(), values })))
          throw new LeaseLost();
      },
      onWait: ({ reason, isGenerating }) =>
        report.update({ ...begun, state: isGenerating ? 'running' : 'starting', reason }),
      signal,
    },
  );
  const waitsForAll = waitsFree(lease.row.started_at, clock.now());
  const pictures = await fetchUpstreamPictures(generated, {
    userId: lease.row.user_id,
    ...{ signal, waitsForAll },
    keep: (read) => keep(() => withMetadata(services, lease.row, read())),
  });
  return { pictures, generatedBy: {}, expertWeights: null };
}

/** The picture with its parameters in its file. It is paid for: where the file takes none in, it stays as it is. */
function withMetadata(
  { log }: RunningParts['services'],
  row: GenerationRow,
  { bytes, mediaType, width, height }: FetchedPicture,
): Picture {
  const shown = { media_type: mediaType, width, height };
  try {
    const embedded = embedMetadata({ bytes, mediaType, width, height }, generationMetadata(row));
    return { ...shown, bytes: embedded };
  } catch (error) {
    log.warn(
      { err: error, generation: row.id },
      'the parameters of a picture could not be written into its file',
    );
    return { ...shown, bytes };
  }
}
