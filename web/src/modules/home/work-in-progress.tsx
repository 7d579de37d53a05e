import { Card } from '../../ui/card.tsx';
import type { LongWork } from '../../ui/long-work.ts';
import { LongWorkItem } from '../../ui/long-work-item.tsx';
import { useDeploymentWork } from '../deployments/use-deployment-work.ts';
import { LiveRun } from '../fine-tuning/runs/curves/live-run.tsx';
import { useRuns } from '../fine-tuning/runs/run-queries.ts';
import { hasEnded } from '../fine-tuning/runs/run-state.ts';
import { useRunWork } from '../fine-tuning/runs/use-run-work.ts';
import { useGenerationWork } from '../gallery/use-generation-work.ts';

/** All unfinished work: the newest run with its curve, everything else as lines. */
export function WorkInProgress() {
  const run = useRuns().data?.pages[0]?.runs.find((one) => !hasEnded(one));
  const work = [...useRunWork(), ...useDeploymentWork(), ...useGenerationWork()];
  const lines = work.filter((one) => isUnderWay(one) && one.id !== `run-${run?.run_id}`);
  return (
    <>
      {run && <LiveRun run={run} />}
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
