import type { Clone } from '@bakehouse/contract/hub/clones';
import { useEffect, useEffectEvent } from 'react';
import { queryClient } from '../../../lib/api/query-client.ts';
import { useFallbackInterval } from '../../../lib/live/event-stream.ts';
import { ownWorkQuery, useOwnWork } from '../../../lib/live/own-work.ts';
import type { LongWork } from '../../../ui/long-work.ts';
import { cloneQuery, useCancelClone } from './clone-calls.ts';
import { clonePolling, nextInterval } from './clone-polling.ts';
import { endOf, isUnderWay, phaseText, workId } from './clone-sentences.ts';

/** Clones as long work. */
export function useCloneWork(): LongWork[] {
  const cancel = useCancelClone();
  const clones = useOwnWork('clones') ?? [];
  usePolling(clones);
  return clones.map((clone) => ({
    id: workId(clone.id),
    title: clone.repo_id,
    phase: phaseText(clone),
    progress: clone.bytes_total === null ? null : clone.progress,
    link: { to: '/model-hub', search: { tab: 'clones' } },
    cancel: { run: () => cancel.mutate(clone.id) },
    end: endOf(clone),
  }));
}

/** Polls clones in progress, one after another, while no events arrive. */
function usePolling(clones: readonly Clone[]): void {
  const isDown = useFallbackInterval(clonePolling.tickMs) !== false;
  const underWay = clones.filter(isUnderWay);
  const ids = useEffectEvent(() => underWay.map(({ id }) => id));
  const isPolling = isDown && underWay.length > 0;
  useEffect(() => {
    if (!isPolling) return;
    const ended = new AbortController();
    void poll(() => ids(), ended.signal);
    return () => ended.abort();
  }, [isPolling]);
}

/** Polling state of a clone: next time, interval, and last progress. */
type Turn = { at: number; intervalMs: number; bytes: number };

async function poll(idsOf: () => string[], signal: AbortSignal): Promise<void> {
  const turns = new Map<string, Turn>();
  while (!signal.aborted) {
    await pause(clonePolling.tickMs);
    for (const id of idsOf()) {
      const now = performance.now();
      const turn = turns.get(id) ?? {
        at: now + clonePolling.startMs,
        intervalMs: clonePolling.startMs,
        bytes: -1,
      };
      turns.set(id, turn);
      if (turn.at > now || signal.aborted) continue;
      const bytes = await fetchBytesDone(id);
      const intervalMs = nextInterval(turn.intervalMs, bytes !== null && bytes !== turn.bytes);
      turns.set(id, { at: performance.now() + intervalMs, intervalMs, bytes: bytes ?? turn.bytes });
      await pause(clonePolling.pauseMs);
    }
  }
}

/** Returns the bytes done, or null on failure. */
async function fetchBytesDone(id: string): Promise<number | null> {
  try {
    const clone = await queryClient.fetchQuery({ ...cloneQuery(id), staleTime: 0 });
    queryClient.setQueryData(
      ownWorkQuery.queryKey,
      (known) => known && { ...known, clones: known.clones.map((one) => (one.id === id ? clone : one)) },
    );
    return clone.bytes_done;
  } catch {
    return null;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
