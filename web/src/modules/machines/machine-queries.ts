import { getMachine, listMachines, listWork } from '@bakehouse/contract/machines';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { endpointQuery } from '../../lib/api/endpoint-query.ts';
import { useFallbackInterval } from '../../lib/live/event-stream.ts';
import { useOnlineInterval } from '../../lib/live/online.ts';
import { endpointPages } from '../../lib/live/paged-query.ts';

const POLL_MS = 3_000;
const MACHINES_POLL_MS = 10_000;

export const machineQuery = endpointQuery(['machine'], getMachine);

export const machinesQuery = endpointQuery(['machines'], listMachines, {}, { staleTime: 0 });

/**
 * Returns the machines, for operators. Polls even while the event stream is connected, because no event
 * announces a silent machine.
 */
export function useMachines() {
  return useQuery({ ...machinesQuery, refetchInterval: useOnlineInterval(MACHINES_POLL_MS) });
}

/** Query for running and queued tasks, paginated; for operators. */
export const workQuery = endpointPages(['work'], listWork, {}, { rows: 'work', id: 'work_id', staleTime: 0 });

/**
 * Returns the tasks, kept up to date. Polls, because events about other users' tasks are only sent to those
 * users.
 */
export function useWork() {
  return useInfiniteQuery({ ...workQuery, refetchInterval: useOnlineInterval(MACHINES_POLL_MS) });
}

/** Returns the machine's hardware and its unfinished preparations. */
export function useMachine() {
  return useQuery({ ...machineQuery, refetchInterval: useFallbackInterval(POLL_MS) });
}
