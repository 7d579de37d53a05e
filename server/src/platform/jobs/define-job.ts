import type { Services } from '../context.ts';
import type { JobKind } from './jobs.ts';

export type Job<Data extends object = object> = JobKind<Data> & {
  /** Must be idempotent: a worker can die before recording success. `isLast`: will not be retried. */
  run: (services: Services, data: Data, signal: AbortSignal, isLast?: boolean) => Promise<void>;
  /** Called if the last attempt died with its worker or timed out, because no attempt will report its end. */
  onLost?: (services: Services, data: Data) => Promise<void>;
  /** Cron expression in UTC, to the minute; then the data is `{}`. */
  schedule?: string;
  /** Retries after the first attempt, with growing pauses. Defaults to 5, or 0 for scheduled jobs. */
  retries?: number;
  /** Seconds after which an attempt counts as hung. Defaults to 900. */
  timeoutSeconds?: number;
};

/** A job with any type of data, for lists of jobs. */
export type AnyJob = Job<never>;

/** Declares a job: its name, `<module>.<verb>`, and its function. */
export function defineJob<Data extends object>(job: Job<Data>): Job<Data> {
  return job;
}
