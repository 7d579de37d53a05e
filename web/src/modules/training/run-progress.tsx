import { parseBgl } from '@bakehouse/contract/money';
import type { Run } from '@bakehouse/contract/training';
import { countOf } from '../../lib/count-of.ts';
import { Card } from '../../ui/card.tsx';
import { Money } from '../../ui/money.tsx';
import { Progress } from '../../ui/progress.tsx';
import { phaseText, timeText } from './run-sentences.ts';

/** Phase, steps, time and money of a run that has not ended. */
export function RunProgress({ run }: { run: Run }) {
  const phase = phaseText(run);
  const waiting = run.state === 'queued' || run.state === 'starting';
  return (
    <Card className="mb-5">
      <Progress
        value={waiting && run.progress === 0 ? null : run.progress}
        label={
          <span className={run.state === 'queued' ? 'block whitespace-normal' : 'block truncate'}>
            {phase}
          </span>
        }
        aside={run.steps_total > 0 ? `Step ${run.step} of ${run.steps_total}` : undefined}
      />
      <div className="mt-3 flex flex-wrap justify-between gap-x-6 gap-y-1 text-[0.8125rem] text-muted tabular-nums">
        <span>{timeText(run)}</span>
        <span>
          Held <Money bgl={run.held} /> of a quote of <Money bgl={run.quote.total} />
        </span>
      </div>
      {parseBgl(run.held) > parseBgl(run.quote.total) && (
        <p className="mt-2 text-[0.8125rem] text-warn">
          It takes longer than estimated, so more than the quote is held. It holds more as it goes; you pay
          for the time that is used.
        </p>
      )}
      {run.reason && run.reason !== phase && <p className="mt-2 text-muted">{run.reason}</p>}
      {run.restarts > 0 && (
        <p className="mt-2 text-[0.8125rem] text-muted">
          It was interrupted {run.restarts === 1 ? 'once' : countOf(run.restarts, 'time')} and went on from
          its last checkpoint.
        </p>
      )}
    </Card>
  );
}
