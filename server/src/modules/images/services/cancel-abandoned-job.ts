import type { Services } from '../../../platform/context.ts';
import type { GenerationRow } from '../queries.ts';
import { cancelJob } from './cancel-job.ts';

type Abandoned = Pick<GenerationRow, 'id' | 'upstream_job' | 'locked_until'>;

/**
 * Cancels the job of a generation that somebody has ended, as it stood before, where nobody runs it who would find out: between
 * two attempts, or once the lease of a process that died has run out.
 */
export async function cancelAbandonedJob(
  services: Pick<Services, 'config' | 'clock' | 'log'>,
  row: Abandoned,
): Promise<void> {
  const isLeased = row.locked_until !== null && row.locked_until > services.clock.now();
  if (!isLeased) await cancelJob(services, row);
}
