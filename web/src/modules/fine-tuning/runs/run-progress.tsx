import { parseBgl } from '@bakehouse/contract/money';
import type { Run } from '@bakehouse/contract/runs';
import { countOf } from '../../../lib/format/count-of.ts';
import { currencyChoice, showLimit } from '../../../lib/format/currency.ts';
import { formatNumber } from '../../../lib/format/format-number.ts';
import { aboutDuration } from '../../../lib/format/format-time.ts';
import { Card } from '../../../ui/card.tsx';
import { Figure } from '../../../ui/figure.tsx';
import { Money } from '../../../ui/money.tsx';
import { Progress } from '../../../ui/progress.tsx';
import { lastOf } from './curves/curves.ts';
import { useRunMetrics } from './run-calls.ts';
import { epochText, isBeyondCeiling, phaseText, secondsToCeiling, stepText } from './run-sentences.ts';
import { RunTime } from './run-time.tsx';

/** Phase, steps, time, speed and cost of an active run. */
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
        aside={stepText(run)}
      />
      <p className="mt-3 text-compact text-muted tabular-nums">
        <RunTime run={run} />
      </p>
      {run.state === 'queued' ? (
        <p className="mt-3 text-muted">
          The run starts by itself. You can leave this page: a notification tells you when it ends.
        </p>
      ) : (
        <Figures run={run} />
      )}
      <Overrun run={run} />
      {run.reason && run.reason !== phase && run.state !== 'stopping' && (
        <p className="mt-3 text-muted">{run.reason}</p>
      )}
      {run.restarts > 0 && (
        <p className="mt-3 text-compact text-muted">
          It was interrupted {run.restarts === 1 ? 'once' : countOf(run.restarts, 'time')}. It continues from
          its last checkpoint, or starts over. The lost time is not charged.
        </p>
      )}
    </Card>
  );
}

/** Warns that a run costs more than quoted, or won't finish below its ceiling. */
function Overrun({ run }: { run: Run }) {
  const currency = currencyChoice.use();
  const untilCeiling = secondsToCeiling(run);
  if (untilCeiling !== null)
    return (
      <p className="mt-3 text-compact text-warn">
        At this pace the run will reach its spending limit of {showLimit(run.ceiling, currency)} before it
        finishes, in {aboutDuration(untilCeiling)}. It will then save its work and stop, and you can resume it
        with a higher limit.
      </p>
    );
  if (isBeyondCeiling(run))
    return (
      <p className="mt-3 text-compact text-muted">
        The run reached its spending limit of {showLimit(run.ceiling, currency)}. It continues at no extra
        cost.
      </p>
    );
  if (parseBgl(run.held) <= parseBgl(run.quote.total)) return null;
  return (
    <p className="mt-3 text-compact text-warn">
      The run takes longer than estimated, so more than the estimate is held. You pay for the time used.
    </p>
  );
}

function speedText({ kind }: Run, points: Parameters<typeof lastOf>[0]): string {
  if (kind === 'text') {
    const speed = lastOf(points, 'tokens_per_second');
    return speed === null ? '–' : `${countOf(Math.round(speed), 'token')} a second`;
  }
  const seconds = lastOf(points, 'seconds_a_step');
  return seconds === null ? '–' : `${formatNumber(seconds, { maximumSignificantDigits: 2 })} s a step`;
}

function Figures({ run }: { run: Run }) {
  const points = useRunMetrics(run.run_id).data?.points ?? [];
  return (
    <dl className="mt-4 grid grid-cols-2 gap-x-6 gap-y-3 sm:grid-cols-4">
      {run.kind === 'text' ? (
        <Figure label="Epoch">{epochText(run)}</Figure>
      ) : (
        <Figure label="Steps">{formatNumber(run.steps_total)}</Figure>
      )}
      {run.kind !== 'export' && <Figure label="Speed">{speedText(run, points)}</Figure>}
      <Figure label="Cost so far">
        <Money bgl={run.cost_so_far} />
      </Figure>
      <Figure
        label="Held"
        note={
          <>
            quoted at <Money bgl={run.quote.total} />
          </>
        }
      >
        <Money bgl={run.held} />
      </Figure>
    </dl>
  );
}
