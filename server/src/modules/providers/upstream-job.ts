import type { Config } from '../../config.ts';
import type { Clock } from '../../platform/clock.ts';
import { AppError } from '../../platform/errors.ts';
import type { Handle, JobStatus } from './service.ts';
import { type ServiceName, services } from './services/services.ts';

/**
 * A job at a service, as stored with its generation. A process that resumes the generation resumes the job:
 *
 *     none ──stored──▶ submitting ──answered──▶ submitted ──polled──▶ done
 *      ▲                   │                        │
 *      │    not started ───┤                        ├──── failed, or unknown there
 *      └───────────────────┴────────────────────────┘
 *
 * Submitting (`handle` is null): the job may have started but cannot be found. Without an answer the
 * generation ends, because a retry could be charged twice; if this process dies, another one submits again.
 * Submitted: `handle` finds the job until it ends or takes too long. Done: outputs are downloaded; while that
 * fails, the handle is polled again.
 */
export type UpstreamJob = { service: ServiceName; handle: Handle | null; begunAt: string };
export type SubmittedJob = UpstreamJob & { handle: Handle };

export function isSubmitted(job: UpstreamJob): job is SubmittedJob {
  return job.handle !== null;
}

type Parts = { config: Pick<Config, 'upstreams'>; clock: Clock };

const LOOK_MS = 10_000;

/** Cancels a job if its service supports that. Throws AppError if the cancel fails. */
export async function cancelUpstream(
  { config, clock }: Parts,
  { service, handle }: UpstreamJob,
): Promise<void> {
  const access = config.upstreams[service];
  if (access && handle) await services[service].open({ ...access, clock }).cancel?.(handle);
}

/**
 * Cancels a job that has not started. Returns false if the job has started or the service cannot cancel. A
 * job that starts during the cancel may still be charged. Throws AppError 'unavailable' if the service does
 * not answer.
 */
export async function cancelQueuedUpstream(
  { config, clock }: Parts,
  { service: name, handle }: UpstreamJob,
): Promise<boolean> {
  const access = config.upstreams[name];
  // The operator removed the key, so the job cannot continue.
  if (!access) return true;
  const service = services[name].open({ ...access, clock });
  if (!service.cancel || !handle) return false;
  const look = await service.look(handle, AbortSignal.timeout(LOOK_MS)).catch(unread);
  if (look.state === 'failed') return true;
  if (look.state === 'done' || look.isGenerating !== false) return false;
  return service.cancel(handle).then(() => true, isRefused);
}

/** Returns false if the service refuses the cancel, with whatever error. */
function isRefused(error: unknown): false {
  if (error instanceof AppError && error.code === 'unavailable') throw error;
  return false;
}

/**
 * Returns the state of a job after an error. A job that the service does not know has failed. If the answer
 * cannot be read, the job counts as done, because it may have started.
 */
function unread(error: unknown): JobStatus {
  if (!(error instanceof AppError)) return { state: 'done', outputs: [] };
  if (error.code === 'gone') return { state: 'failed', error };
  throw error;
}
