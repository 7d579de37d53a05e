import { isDeepStrictEqual } from 'node:util';
import type { Context, Services } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { findServiceTitle } from '../../providers/find-upstreams.ts';
import { cancelUpstream, type UpstreamJob, withdrawUpstream } from '../../providers/upstream-job.ts';
import { findGeneration } from '../find-generations.ts';
import { mediumOf } from '../media-table.ts';
import type { GenerationRow } from '../queries.ts';

/** Tells the service that nobody waits any more for what it generates, if it generates. Whatever it answers, this is over with it. */
export async function cancelJob(
  services: Pick<Services, 'config' | 'clock' | 'log'>,
  { id, upstream_job: job }: Pick<GenerationRow, 'id' | 'upstream_job'>,
): Promise<void> {
  if (!job) return;
  await cancelUpstream(services, job).catch((error: unknown) =>
    services.log.warn(
      { err: error, generation_id: id },
      'a service could not be told that a picture is not wanted',
    ),
  );
}

/**
 * Takes the job of a generation back from its service before the generation is ended: what the service has begun costs the
 * operator its price. Answers the job; null where there is none. Throws AppError 'conflict' where the service cannot
 * cancel it, and what `withdrawUpstream` throws.
 */
export async function withdrawJob(
  ctx: Pick<Context, 'config' | 'db' | 'clock' | 'caller'>,
  { id }: { id: string },
): Promise<UpstreamJob | null> {
  const row = await findGeneration(ctx.db, { id, userId: ctx.caller.userId });
  if (!row?.upstream_job || row.ended_at !== null) return null;
  if (!(await withdrawUpstream(ctx, row.upstream_job))) throw hasBegun(row);
  return row.upstream_job;
}

/** Throws AppError 'conflict' where a locked generation has another job by now than the one that was withdrawn. */
export function refuseNewJob(row: GenerationRow, withdrawn: UpstreamJob | null): void {
  if (row.upstream_job && !isDeepStrictEqual(row.upstream_job, withdrawn)) throw hasBegun(row);
}

function hasBegun({ generator, model }: GenerationRow): AppError {
  const title = findServiceTitle(generator, model) ?? model;
  return new AppError('conflict', {
    publicMessage: `${title} has started on this ${mediumOf(generator).noun} and cannot cancel it. It will be charged when it is done`,
  });
}
