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

/** What runs work, for operators. Nobody announces that one is silent, so they are asked for while the event stream lives too. */
export function useMachines(isOperator: boolean) {
  return useQuery({
    ...machinesQuery,
    enabled: isOperator,
    refetchInterval: useOnlineInterval(MACHINES_POLL_MS),
  });
}

/** The work that runs and that in line, page by page; for operators. */
export const workQuery = endpointPages(['work'], listWork, {}, { rows: 'work', id: 'work_id', staleTime: 0 });

/** The same, kept up to date. What changes for others is announced to them alone, so it is asked for in the same way. */
export function useWork(isOperator: boolean) {
  return useInfiniteQuery({
    ...workQuery,
    enabled: isOperator,
    refetchInterval: useOnlineInterval(MACHINES_POLL_MS),
  });
}

/** What the machine has and what it is still preparing. */
export function useMachine() {
  return useQuery({ ...machineQuery, refetchInterval: useFallbackInterval(POLL_MS) });
}
