import type { Config } from '../../config.ts';
import type { Clock } from '../../platform/clock.ts';
import { AppError } from '../../platform/errors.ts';
import type { Handle, Look } from './service.ts';
import { type ServiceName, services } from './services/services.ts';

/**
 * A job at a service, as the row of its generation keeps it. Whoever goes on with the generation goes on with the job:
 *
 *     none ──kept──▶ submitting ──answered──▶ submitted ──looked at──▶ done
 *      ▲                 │                        │
 *      │   not begun ────┤                        ├──── failed, or unknown there
 *      └─────────────────┴────────────────────────┘
 *
 * Submitting (`handle` is null): it may have begun, and nobody can find it. Where no answer comes, its generation ends, as
 * it could be paid for twice; where this process dies, another begins it anew. Submitted: `handle` finds it, until it ends
 * or takes too long. Done: its outputs are fetched, and looked for again by the handle while they cannot be.
 */
export type UpstreamJob = { service: ServiceName; handle: Handle | null; begunAt: string };
export type SubmittedJob = UpstreamJob & { handle: Handle };

export function isSubmitted(job: UpstreamJob): job is SubmittedJob {
  return job.handle !== null;
}

type Parts = { config: Pick<Config, 'upstreams'>; clock: Clock };

const LOOK_MS = 10_000;

/** Cancels a job at its service, as far as that can. Throws AppError where the service does not. */
export async function cancelUpstream(
  { config, clock }: Parts,
  { service, handle }: UpstreamJob,
): Promise<void> {
  const access = config.upstreams[service];
  if (access && handle) await services[service].open({ ...access, clock }).cancel?.(handle);
}

/**
 * Cancels a job that its service has not begun; false where the service has begun it, or cancels nothing. One that begins in
 * the moment of the cancel may cost the operator its price. Throws AppError 'unavailable' where the service does not answer.
 */
export async function withdrawUpstream(
  { config, clock }: Parts,
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

/** A job that the service does not know has failed there; where its answer is not understood, it may have begun. */
function unread(error: unknown): Look {
  if (!(error instanceof AppError)) return { state: 'done', outputs: [] };
  if (error.code === 'gone') return { state: 'failed', error };
  throw error;
}
