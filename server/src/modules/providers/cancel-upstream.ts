import type { Config } from '../../config.ts';
import type { Clock } from '../../platform/clock.ts';
import type { UpstreamJob } from './generate-upstream.ts';
import { services } from './services/services.ts';

/** Cancels a job at its service, as far as that can. Throws AppError where the service does not. */
export async function cancelUpstream(
  { config, clock }: { config: Pick<Config, 'upstreams'>; clock: Clock },
  { service, handle }: UpstreamJob,
): Promise<void> {
  const access = config.upstreams[service];
  if (access && handle) await services[service].open({ ...access, clock }).cancel?.(handle);
}
