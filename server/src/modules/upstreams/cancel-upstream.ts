import type { Config } from '../../config.ts';
import type { UpstreamJob } from './draw-upstream.ts';
import { services } from './services/services.ts';

/** Cancels a job at its service, as far as that can. Throws AppError where the service does not. */
export async function cancelUpstream(
  { upstreams }: Pick<Config, 'upstreams'>,
  job: UpstreamJob,
): Promise<void> {
  const access = upstreams[job.service];
  if (access) await services[job.service].open(access).cancel(job.handle);
}
