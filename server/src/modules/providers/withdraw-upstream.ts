import type { Config } from '../../config.ts';
import type { Clock } from '../../platform/clock.ts';
import { AppError } from '../../platform/errors.ts';
import type { UpstreamJob } from './generate-upstream.ts';
import type { Look } from './service.ts';
import { services } from './services/services.ts';

const LOOK_MS = 10_000;

/**
 * Cancels a job that its service has not begun; false where the service has begun it, or cancels nothing. One that begins in
 * the moment of the cancel may cost the operator its price. Throws AppError 'unavailable' where the service does not answer.
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
  const look = await service.look(handle, AbortSignal.timeout(LOOK_MS)).catch(unread);
  if (look.state === 'failed') return true;
  if (look.state === 'done' || look.isGenerating !== false) return false;
  return service.cancel(handle).then(() => true, isRefused);
}

/** The service answers that it does not cancel the job, in whichever words. */
function isRefused(error: unknown): false {
  if (error instanceof AppError && error.code === 'unavailable') throw error;
  return false;
}

/** What the service does not know any more has failed there; of what is not understood it may be at work. */
function unread(error: unknown): Look {
  if (!(error instanceof AppError)) return { state: 'done', pictures: [] };
  if (error.code === 'gone') return { state: 'failed', error };
  throw error;
}
