import type { DataReading } from '@bakehouse/contract/fine-tuning';
import { formatNumber } from '../../../lib/format/format-number.ts';
import { Callout } from '../../../ui/callout.tsx';
import { Progress } from '../../../ui/progress.tsx';

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
