import { isDeepStrictEqual } from 'node:util';
import type { Context, Services } from '../../../platform/context.ts';
import { type AppError, conflict } from '../../../platform/errors.ts';
import { findServiceTitle } from '../../providers/find-upstreams.ts';
import { cancelQueuedUpstream, cancelUpstream, type UpstreamJob } from '../../providers/upstream-job.ts';
import { findGeneration } from '../generations.ts';
import { mediumOf } from '../media-table.ts';
import type { GenerationRow } from '../queries.ts';

/** Cancels the generation's job at the service, if it has one. Best effort: errors are only logged. */
export async function cancelJob(
  services: Pick<Services, 'config' | 'clock' | 'log'>,
  { id, upstream_job: job }: Pick<GenerationRow, 'id' | 'upstream_job'>,
): Promise<void> {
  if (!job) return;
  await cancelUpstream(services, job).catch((error: unknown) =>
    services.log.warn({ err: error, generation_id: id }, 'failed to cancel job at service'),
  );
}

/**
 * Cancels a generation's job at its service, before the generation itself ends, because the operator pays for
 * a started job. Returns the job; null if there is none. Throws AppError 'conflict' if the service has
 * started it or cannot cancel it, and the errors of `cancelQueuedUpstream`.
 */
export async function withdrawJob(
  ctx: Pick<Context, 'config' | 'db' | 'clock' | 'caller'>,
  { id }: { id: string },
): Promise<UpstreamJob | null> {
  const row = await findGeneration(ctx.db, { id, userId: ctx.caller.userId });
  if (!row?.upstream_job || row.ended_at !== null) return null;
  if (!(await cancelQueuedUpstream(ctx, row.upstream_job))) throw hasBegun(row);
  return row.upstream_job;
}

/** Throws AppError 'conflict' if a locked generation got another job after `withdrawn` was cancelled. */
export function assertSameJob(row: GenerationRow, withdrawn: UpstreamJob | null): void {
  if (row.upstream_job && !isDeepStrictEqual(row.upstream_job, withdrawn)) throw hasBegun(row);
}

function hasBegun({ generator, model }: GenerationRow): AppError {
  const title = findServiceTitle(generator, model) ?? model;
  return conflict(
    `${title} has started on this ${mediumOf(generator).noun} and cannot cancel it. It will be charged when it is done`,
  );
}
