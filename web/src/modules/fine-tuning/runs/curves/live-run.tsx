import type { Run } from '@bakehouse/contract/runs';
import { Link } from '@tanstack/react-router';
import { formatNumber } from '../../../../lib/format/format-number.ts';
import { Card } from '../../../../ui/card.tsx';
import { Chart } from '../../../../ui/chart.tsx';
import { Progress } from '../../../../ui/progress.tsx';
import { StatusBadge } from '../../../../ui/status-badge.tsx';
import { useRunMetrics } from '../run-calls.ts';
import { phaseText, stepText } from '../run-sentences.ts';
import { displayState } from '../run-state.ts';
import { RunTime } from '../run-time.tsx';
import { curvesOf } from './curves.ts';

const HEIGHT = 150;

/** A running run with its phase, progress and loss. */
export function LiveRun({ run }: { run: Run }) {
  const { data } = useRunMetrics(run.run_id);
  const { x, series } = curvesOf(data?.points ?? [], [{ name: 'loss', label: 'Loss' }]);
  const state = displayState(run);
  const waits = run.progress === 0 && state !== 'running';
  return (
    <Card
      title={
        <Link to="/runs/$id" params={{ id: run.run_id }} className="rounded hover:underline">
          {run.title}
        </Link>
      }
      description={`Fine-tune of ${run.base_model.title}`}
      actions={<StatusBadge status={state} moving={state === 'running'} />}
    >
      <Progress
        value={waits ? null : run.progress}
        label={<span className="block truncate">{phaseText(run)}</span>}
        aside={stepText(run)}
      />
      <p className="mt-2 text-compact text-muted tabular-nums">
        <RunTime run={run} />
      </p>
      <div className="mt-4" style={{ minHeight: HEIGHT }}>
        {series.length > 0 ? (
          <Chart
            label="Training loss by step"
            x={x}
            series={series}
            smoothing={0.6}
            height={HEIGHT}
            hoverX={(step) => `Step ${formatNumber(step)}`}
          />
        ) : (
          <p className="flex items-center justify-center text-muted" style={{ height: HEIGHT }}>
            The loss curve starts at the first step.
          </p>
        )}
      </div>
    </Card>
  );
}
