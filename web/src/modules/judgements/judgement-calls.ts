import * as contract from '@bakehouse/contract/judgements';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../lib/api/api-client.ts';
import { endpointQuery } from '../../lib/api/endpoint-query.ts';
import { useIdempotencyKeys } from '../../lib/api/idempotency-key.ts';
import { useFallbackInterval } from '../../lib/live/event-stream.ts';
import { readAgain } from '../../lib/mutation/read-again.ts';
import { useMutation } from '../../lib/mutation/use-mutation.ts';

const POLL_MS = 3_000;
/** The first request for a starter model gives it its server. */
const QUOTE_TIMEOUT_MS = 60_000;

const judgementQuery = (runId: string) =>
  endpointQuery(['run', 'judgement', runId], contract.getJudgement, { params: { runId } });

export function useJudgement(runId: string, { enabled = true } = {}) {
  return useQuery({ ...judgementQuery(runId), enabled, refetchInterval: useFallbackInterval(POLL_MS) });
}

/** What a start would cost at most; without settings, going on. */
export const quoteQuery = (runId: string, settings: contract.JudgeSettings | undefined) =>
  endpointQuery(
    ['judgement-quote', runId, settings ?? null],
    contract.quoteJudgement,
    { params: { runId }, body: { settings } },
    { retry: false, call: { timeoutMs: QUOTE_TIMEOUT_MS } },
  );

/** Asks a judge anew, or without settings goes on with what has no answer. */
export function useStartJudgement(runId: string) {
  const keys = useIdempotencyKeys(`start-judgement-${runId}`);
  return useMutation({
    mutationFn: (settings: contract.JudgeSettings | undefined) =>
      call(
        contract.startJudgement,
        { params: { runId }, body: { settings } },
        { idempotencyKey: keys.keyFor(settings ?? null), timeoutMs: QUOTE_TIMEOUT_MS },
      ),
    onSuccess: (_judgement, settings) => {
      keys.renew(settings ?? null);
      readAgain(['run', 'judgement', runId]);
    },
    meta: { title: 'The judge could not be asked' },
  });
}

export function useCancelJudgement(runId: string) {
  return useMutation({
    mutationFn: () => call(contract.cancelJudgement, { params: { runId } }),
    onSuccess: () => readAgain(['run', 'judgement', runId]),
    meta: { title: 'The judge could not be cancelled' },
  });
}
