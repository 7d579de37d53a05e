import type { Run } from '@bakehouse/contract/training';
import { formatDuration } from '../../lib/format-time.ts';

/** '2 min 5 s so far, about 40 s left'. */
export function timeSentence(run: Pick<Run, 'elapsed_seconds' | 'remaining_seconds' | 'started_at'>): string {
  if (run.started_at === null) return 'Not started yet';
  const elapsed = `${formatDuration(run.elapsed_seconds)} so far`;
  return run.remaining_seconds === null
    ? elapsed
    : `${elapsed}, about ${formatDuration(run.remaining_seconds)} left`;
}
