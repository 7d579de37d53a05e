import type { Run } from '@bakehouse/contract/training';
import { Card } from '../../ui/card.tsx';
import { Money } from '../../ui/money.tsx';
import { Progress } from '../../ui/progress.tsx';
import { timeSentence } from './run-sentences.ts';

/** Phase, steps, time and money of a run that has not ended. */
export function RunProgress({ run }: { run: Run }) {
  const waiting = run.state === 'queued' || run.state === 'starting';
  return (
    <Card className="mb-5">
      <Progress
        value={waiting && run.progress === 0 ? null : run.progress}
        label={<span className="block truncate first-letter:uppercase">{run.phase ?? run.reason}</span>}
        aside={run.steps_total > 0 ? `Step ${run.step} of ${run.steps_total}` : undefined}
      />
      <div className="mt-3 flex flex-wrap justify-between gap-x-6 gap-y-1 text-[0.8125rem] text-muted tabular-nums">
        <span>{timeSentence(run)}</span>
        <span>
          Held: <Money bgl={run.held} />
        </span>
      </div>
      {run.reason && run.phase && run.reason !== run.phase && <p className="mt-2 text-muted">{run.reason}</p>}
      {run.restarts > 0 && (
        <p className="mt-2 text-[0.8125rem] text-muted">
          It was interrupted {run.restarts === 1 ? 'once' : `${run.restarts} times`} and went on from its last
          checkpoint.
        </p>
      )}
    </Card>
  );
}
