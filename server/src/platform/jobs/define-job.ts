import type { Services } from '../context.ts';
import type { JobKind } from './jobs.ts';

export type Job<Data extends object = object> = JobKind<Data> & {
  /**
   * May run more than once for the same data: a worker can die after the work and before the note of it.
   * `isLast`: it is not tried again where it fails.
   */
  run: (services: Services, data: Data, signal: AbortSignal, isLast?: boolean) => Promise<void>;
  /** The last attempt ended with its worker, or took too long: no attempt will say any more how it ended. */
  onLost?: (services: Services, data: Data) => Promise<void>;
  /** Cron expression in UTC, to the minute; then the data is `{}`. */
  schedule?: string;
  /** Attempts after the first failed one, with growing pauses. 5 unless said; 0 for scheduled jobs. */
  retries?: number;
  /** Seconds after which an attempt counts as hung. 900 unless said. */
  timeoutSeconds?: number;
};

/** A job of any kind of data, as lists of jobs hold them. */
export type AnyJob = Job<never>;

/** Declares a job: its name, `<module>.<verb>`, and the function that does it. */
export function defineJob<Data extends object>(job: Job<Data>): Job<Data> {
  return job;
}
