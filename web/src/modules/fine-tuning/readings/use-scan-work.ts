import type { DataReading } from '@bakehouse/contract/fine-tuning';
import { formatNumber } from '../../../lib/format/format-number.ts';
import { useOwnWork } from '../../../lib/live/own-work.ts';
import type { LongWork } from '../../../ui/long-work.ts';
import { stopReading } from './reading-calls.ts';

/** Returns background file scans for the list of long-running tasks. */
export function useScanWork(): LongWork[] {
  return (useOwnWork('readings') ?? []).map((reading) => ({
    id: `reading-${reading.reading_id}`,
    title: reading.file_name,
    phase: `Counting its rows, ${formatNumber(reading.rows_read)} so far`,
    progress: reading.progress,
    link: { to: '/dataset/$id/description', params: { id: reading.dataset_id } },
    cancel: { run: () => void stopReading(reading.reading_id).catch(() => undefined) },
    end: endOf(reading),
  }));
}

function endOf({ state, file_name, rows_read, reason }: DataReading): LongWork['end'] {
  switch (state) {
    case 'reading':
      return null;
    case 'done':
      return {
        kind: 'success',
        title: `Counted all ${formatNumber(rows_read)} rows of ${file_name}`,
      };
    case 'failed':
      return { kind: 'failure', title: `${file_name} could not be read`, description: reason ?? '' };
    case 'cancelled':
      return { kind: 'info', title: `Stopped counting the rows of ${file_name}` };
  }
}
