import { cancelReading, type DataReading, listReadings } from '@bakehouse/contract/training';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../../lib/api/api-client.ts';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { useFallbackInterval } from '../../../lib/live/event-stream.ts';

const POLL_MS = 3_000;

export const readingsQuery = endpointQuery(['reading', 'list'], listReadings);

/** The user's data files that are read in the background, and those that lately were. */
export function useReadings() {
  return useQuery({ ...readingsQuery, refetchInterval: useFallbackInterval(POLL_MS) });
}

/** How far a reading is; what is known of it already stands in until then. */
export function useReading(known: DataReading | null): DataReading | null {
  const { data } = useReadings();
  return data?.readings.find(({ reading_id }) => reading_id === known?.reading_id) ?? known;
}

/** Stops reading a file. Where that fails it is read to its end, which harms nobody. */
export async function stopReading(readingId: string): Promise<void> {
  try {
    await call(cancelReading, { params: { readingId } });
  } finally {
    await queryClient.invalidateQueries({ queryKey: readingsQuery.queryKey });
  }
}
