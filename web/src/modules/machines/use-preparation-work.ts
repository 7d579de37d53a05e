import type { Machine } from '@bakehouse/contract/machines';
import { useEffect, useRef } from 'react';
import { queryClient } from '../../lib/api/query-client.ts';
import { useOwnWork } from '../../lib/live/own-work.ts';
import type { LongWork } from '../../ui/long-work.ts';

type Preparation = Machine['preparations'][number];

/**
 * Returns the server's background preparations for the list of long-running tasks; failed ones stay listed.
 */
export function usePreparationWork(): LongWork[] {
  const preparations = useOwnWork('preparations');
  useNews(preparations?.filter(({ state }) => state === 'ready').length);
  return (preparations ?? []).map((preparation) => {
    const { id, label, state, detail, progress } = preparation;
    return {
      id: `preparation-${id}`,
      title: label,
      phase: state === 'waiting' ? 'Waiting for its turn' : detail,
      progress: progress === null || state === 'waiting' ? null : progress * 100,
      end: endOf(preparation),
    };
  });
}

function endOf({ label, state, detail }: Preparation): LongWork['end'] {
  if (state === 'ready') return { kind: 'success', title: `${label}: ready` };
  return state === 'failed'
    ? { kind: 'failure', title: `${label} could not be prepared`, description: detail, isListed: true }
    : null;
}

/**
 * Refetches the data that a finished preparation changes, such as the starter model and the models that
 * answer.
 */
function useNews(ready: number | undefined): void {
  const before = useRef(ready);
  useEffect(() => {
    if (ready === undefined) return;
    if (before.current !== undefined && ready > before.current) {
      for (const family of ['asset', 'deployment']) {
        void queryClient.invalidateQueries({ queryKey: [family] });
      }
    }
    before.current = ready;
  }, [ready]);
}
