import { getHeldOutAnswers } from '@bakehouse/contract/runs';
import { useQuery } from '@tanstack/react-query';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';

export const heldOutAnswersQuery = (runId: string) =>
  endpointQuery(['run', 'held-out', runId], getHeldOutAnswers, { params: { runId } });

export function useHeldOutAnswers(runId: string) {
  return useQuery(heldOutAnswersQuery(runId));
}
