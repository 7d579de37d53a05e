import { getHeldOutAnswers } from '@bakehouse/contract/training';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { call } from '../../../lib/api/api-client.ts';

export const heldOutAnswersQuery = (runId: string) =>
  queryOptions({
    queryKey: ['run', 'held-out', runId],
    queryFn: ({ signal }) =>
      call(
        getHeldOutAnswers,
        { params: { runId } },
        { signal, operation: 'fetch the answers of both models' },
      ),
  });

export function useHeldOutAnswers(runId: string, { enabled = true } = {}) {
  return useQuery({ ...heldOutAnswersQuery(runId), enabled });
}
