import type { Config } from '../../config.ts';
import type { Clock } from '../../platform/clock.ts';
import { AppError } from '../../platform/errors.ts';
import type { UpstreamJob } from './generate-upstream.ts';
import type { Look } from './service.ts';
import { services } from './services/services.ts';

const LOOK_MS = 10_000;

/**
 * Cancels a job that its service has not begun, so that it costs nothing there; false where the service has begun it, or
 * knows no cancel. Throws AppError where the service does not answer.
 */
export async function withdrawUpstream(
  { config, clock }: { config: Pick<Config, 'upstreams'>; clock: Clock },
  { service: name, handle }: UpstreamJob,
): Promise<boolean> {
  const access = config.upstreams[name];
  // The operator has taken the key away: nobody can go on with it.
  if (!access) return true;
  const service = services[name].open({ ...access, clock });
  if (!service.cancel || !handle) return false;
  const look = await service.look(handle, AbortSignal.timeout(LOOK_MS)).catch(forgotten);
  if (look.state === 'failed') return true;
  if (look.state === 'done' || look.isGenerating !== false) return false;
  await service.cancel(handle);
  return true;
}

/** What the service does not know any more has failed there. */
function forgotten(error: unknown): Look {
  if (error instanceof AppError && error.code === 'gone') return { state: 'failed', error };
  throw error;
}
