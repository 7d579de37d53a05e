import { cancelReading, type DataReading, listReadings } from '@bakehouse/contract/fine-tuning';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../../lib/api/api-client.ts';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { useFallbackInterval } from '../../../lib/live/event-stream.ts';

const POLL_MS = 3_000;

export const readingsQuery = endpointQuery(['reading', 'list'], listReadings);

/** Returns the user's background file scans, running and recent. */
export function useScans() {
  return useQuery({ ...readingsQuery, refetchInterval: useFallbackInterval(POLL_MS) });
}

/** Returns the progress of a scan, or `known` until it loads. */
export function useReading(known: DataReading | null): DataReading | null {
  const { data } = useScans();
  return data?.readings.find(({ reading_id }) => reading_id === known?.reading_id) ?? known;
}

/** Cancels a scan. Callers may ignore a failure: the scan then runs to its end. */
export async function stopReading(readingId: string): Promise<void> {
  try {
    await call(cancelReading, { params: { readingId } });
  } finally {
    await queryClient.invalidateQueries({ queryKey: readingsQuery.queryKey });
  }
}
