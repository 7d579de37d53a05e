import type { Services } from '../../../platform/context.ts';
import { cancelUpstream } from '../../providers/cancel-upstream.ts';
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
