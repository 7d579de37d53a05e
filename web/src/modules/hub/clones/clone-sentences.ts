import type { Clone } from '@bakehouse/contract/hub/clones';
import { formatBytes } from '@bakehouse/contract/labels';
import { countOf } from '../../../lib/format/count-of.ts';
import { aboutDuration } from '../../../lib/format/format-time.ts';
import type { LongWork } from '../../../ui/long-work.ts';

export const isUnderWay = ({ ended_at }: Pick<Clone, 'ended_at'>): boolean => ended_at === null;

/** Returns the noun for toasts and titles. */
export const nounOf = ({ dataset_type }: Pick<Clone, 'dataset_type'>): 'dataset' | 'model' =>
  dataset_type === 'MODEL' ? 'model' : 'dataset';

export const workId = (id: string): string => `clone-${id}`;

/** Returns the current phase. */
export function phaseText(clone: Clone): string {
  if (clone.status === 'QUEUED') return 'Waiting for its turn';
  if (clone.status === 'LISTING') return 'Listing the files';
  const { bytes_done: done, bytes_total: total, bytes_per_second: speed } = clone;
  if (total === null) return 'Listing the files';
  const parts = [
    `${formatBytes(done)} of ${formatBytes(total)}`,
    `${clone.files_done} of ${countOf(clone.files_total ?? 0, 'file')}`,
  ];
  if (speed) parts.push(`${formatBytes(speed)}/s`, `${aboutDuration((total - done) / speed)} left`);
  return parts.join(' · ');
}

/** Returns the toast at its end, or null. */
export function endOf(clone: Clone): LongWork['end'] {
  const { status, repo_id: title, reason } = clone;
  if (status === 'COMPLETED') return { kind: 'success', title: `${title} has been cloned` };
  if (status === 'FAILED')
    return {
      kind: 'failure',
      title: `Error cloning the ${nounOf(clone)}`,
      description: `${title}: ${reason}`,
    };
  return status === 'CANCELLED' ? { kind: 'info', title: `Cloning ${title} was cancelled` } : null;
}
