import { queryClient } from '../../lib/api/query-client.ts';
import { loadable } from '../../lib/loadable.tsx';
import { Card } from '../../ui/card.tsx';
import { DeferredPart } from '../../ui/deferred-part.tsx';
import type { LongWork } from '../../ui/long-work.ts';
import { LongWorkItem } from '../../ui/long-work-item.tsx';
import { deploymentWorkQuery } from '../deployments/deployment-lists.ts';
import { useDeploymentWork } from '../deployments/use-deployment-work.ts';
import { generationWorkQuery } from '../generations/generation-queries.ts';
import { useGenerationWork } from '../generations/use-generation-work.ts';
import { useRuns } from '../training/runs/run-queries.ts';
import { hasEnded } from '../training/runs/run-state.ts';
import { recentRunsQuery, useRunWork } from '../training/runs/use-run-work.ts';
import { PendingCard } from './pending-dashboard.tsx';

/** A run in progress with its curve. */
const LiveRun = loadable(async () => (await import('../training/runs/curves/live-run.tsx')).LiveRun);

/** Maximum delay: a list that fails and is retried must not delay the other cards. */
const WAIT_MS_MAX = 1_500;

/** Reads all work that may be in progress, so that its cards render together; skips failed or slow reads. */
export function readWork(userId: string): Promise<void> {
  return Promise.race([readAll(userId), new Promise<void>((resolve) => setTimeout(resolve, WAIT_MS_MAX))]);
}

async function readAll(userId: string): Promise<void> {
  const [runs] = await Promise.all([
    queryClient.fetchQuery(recentRunsQuery).catch(() => null),
    queryClient.prefetchQuery(deploymentWorkQuery('text', userId)),
    queryClient.prefetchQuery(deploymentWorkQuery('image', userId)),
    queryClient.prefetchInfiniteQuery(generationWorkQuery(userId)),
  ]);
  if (runs?.runs.some((run) => !hasEnded(run))) await LiveRun.preload();
}

/** All unfinished work: the newest run with its curve, everything else as lines. */
export function WorkInProgress() {
  const run = useRuns().data?.pages[0]?.runs.find((one) => !hasEnded(one));
  const work = [...useRunWork(), ...useDeploymentWork(), ...useGenerationWork()];
  const lines = work.filter((one) => isUnderWay(one) && one.id !== `run-${run?.run_id}`);
  return (
    <>
      {run && (
        <DeferredPart pending={<PendingCard title={run.title} rowClass="h-[17rem]" />}>
          <LiveRun run={run} />
        </DeferredPart>
      )}
      {lines.length > 0 && (
        <Card title="In progress" flush>
          <ul className="px-5 pb-1">
            {lines.map((one) => (
              <LongWorkItem key={one.id} work={one} />
            ))}
          </ul>
        </Card>
      )}
    </>
  );
}

function isUnderWay({ end, isUnlisted }: LongWork): boolean {
  return end === null && !isUnlisted;
}
