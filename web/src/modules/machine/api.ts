import { getMachine } from '@bakehouse/contract/machine';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { call } from '../../lib/api-client.ts';
import { useFallbackInterval } from '../../lib/event-stream.ts';

export { deviceName, firstGpu, gpusHere } from './devices.ts';

const POLL_MS = 3_000;

export const machineQuery = queryOptions({
  queryKey: ['machine'],
  queryFn: ({ signal }) => call(getMachine, {}, { signal, operation: 'read the state of the machine' }),
});

/** What the machine has and what it is still preparing. */
export function useMachine() {
  return useQuery({ ...machineQuery, refetchInterval: useFallbackInterval(POLL_MS) });
}
