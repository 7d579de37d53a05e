import type { DataReading } from '@bakehouse/contract/training';
import { formatNumber } from '../../../lib/format/format-number.ts';
import { Callout } from '../../../ui/callout.tsx';
import type { LongWork } from '../../../ui/long-work.tsx';
import { Progress } from '../../../ui/progress.tsx';
import { stopReading, useScans } from './reading-calls.ts';

/** Shows that figures are estimates from the first rows of a long file, and the scan progress. */
export function ScanNotice({ reading }: { reading: DataReading }) {
  const { state, file_name: file, rows_read: rows, progress, reason } = reading;
  if (state === 'failed' || state === 'cancelled') {
    return (
      <Callout tone="warn" title={`Not all rows of ${file} were counted`}>
        {reason ? `${reason} ` : ''}The figures below are an estimate from its first rows.
      </Callout>
    );
  }
  return (
    <Callout title="An estimate from the first rows">
      <p className="mb-3">
        {file} is long. The figures below are an estimate from its first rows, and become exact once all of it
        has been read. You can start without waiting.
      </p>
      <Progress value={progress} label={`${formatNumber(rows)} rows read`} />
    </Callout>
  );
}

/** Returns background file scans for the list of long-running tasks. */
export function useScanWork(): LongWork[] {
  return (useScans().data?.readings ?? []).map((reading) => ({
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
