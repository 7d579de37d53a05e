import type { Services } from '../context.ts';
import type { JobKind } from './jobs.ts';

export type Job<Data extends object = object> = JobKind<Data> & {
  /**
   * Must be idempotent, because a worker may die before it records the success. `isLast` means that there are
   * no more retries.
   */
  run: (services: Services, data: Data, signal: AbortSignal, isLast?: boolean) => Promise<void>;
  /** Called if the last attempt timed out or its worker died, because `run` cannot handle that. */
  onLost?: (services: Services, data: Data) => Promise<void>;
  /** Cron expression in UTC, with a resolution of a minute. Scheduled jobs get `{}` as data. */
  schedule?: string;
  /** Retries after the first attempt, with growing pauses. Defaults to 5, or to 0 for scheduled jobs. */
  retries?: number;
  /** Seconds after which an attempt counts as hung. Defaults to 900. */
  timeoutSeconds?: number;
};

/** A job with data of any type, for lists of jobs. */
export type AnyJob = Job<never>;

/** Declares a job. Its name has the form `<module>.<verb>`. */
export function defineJob<Data extends object>(job: Job<Data>): Job<Data> {
  return job;
}
