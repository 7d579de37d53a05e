import { cancelReading, type DataReading } from '@bakehouse/contract/fine-tuning';
import { call } from '../../../lib/api/api-client.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { ownWorkQuery, useOwnWork } from '../../../lib/live/own-work.ts';

/** Returns the progress of a scan, or `known` until it loads. */
export function useReading(known: DataReading | null): DataReading | null {
  return useOwnWork('readings')?.find(({ reading_id }) => reading_id === known?.reading_id) ?? known;
}

/** Cancels a scan. Callers may ignore a failure: the scan then runs to its end. */
export async function stopReading(readingId: string): Promise<void> {
  try {
    await call(cancelReading, { params: { readingId } });
  } finally {
    await queryClient.invalidateQueries({ queryKey: ownWorkQuery.queryKey });
  }
}
