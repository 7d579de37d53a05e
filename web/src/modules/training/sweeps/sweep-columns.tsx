import type { SweepParameter } from '@bakehouse/contract/sweep-axes';
import type { Sweep, SweptRun } from '@bakehouse/contract/sweeps';
import { Link } from '@tanstack/react-router';
import { Star } from 'lucide-react';
import type { ReactNode } from 'react';
import { formatDuration } from '../../../lib/format/format-time.ts';
import { CheckboxBox } from '../../../ui/checkbox-box.tsx';
import type { Column } from '../../../ui/data-table.tsx';
import { Money } from '../../../ui/money.tsx';
import { Progress } from '../../../ui/progress.tsx';
import { StatusBadge } from '../../../ui/status-badge.tsx';
import { ResumeButton } from '../runs/resume-dialog.tsx';
import { displayState } from '../runs/run-state.ts';
import { labelOf, nameRun } from './describe-sweep.ts';

/** Whose curves are drawn, by the ids of the runs, and whether no more can be. */
export type Drawn = {
  ids: readonly string[];
  isFull: boolean;
  toggle: (runId: string, checked: boolean) => void;
};

/** The columns of the table of a sweep; the first chooses whose curves are drawn. */
export function sweepColumns(sweep: Sweep, drawn: Drawn): Column<SweptRun>[] {
  const rewarded = sweep.measure === 'eval_reward';
  const measure = rewarded ? 'reward' : 'loss';
  const hasAccuracy = sweep.runs.some(({ held_out }) => held_out?.reward_accuracy != null);
  const canResume = sweep.runs.some((run) => run.resume_hold !== null);
  return [
    {
      id: 'curves',
      header: <span className="sr-only">Curves</span>,
      cell: (run) => <CurveBox name={nameRun(sweep, run)} run={run} drawn={drawn} />,
      width: '3.125rem',
      control: true,
    },
    ...sweep.parameters.map((parameter, at): Column<SweptRun> => valueColumn(sweep, parameter, at === 0)),
    figure('best', `Best ${measure}`, (run) => <Best sweep={sweep} run={run} />),
    { ...figure('last', `Last ${measure}`, ({ held_out }) => held_out?.last.toFixed(3)), hideBelow: 'md' },
    ...(hasAccuracy
      ? [
          {
            ...figure('accuracy', 'Reward accuracy', ({ held_out }) => held_out?.reward_accuracy?.toFixed(2)),
            hideBelow: 'sm',
          } as const,
        ]
      : []),
    { id: 'state', header: 'State', cell: (run) => <State sweep={sweep} run={run} /> },
    {
      ...figure('time', 'Time', (run) => run.elapsed_seconds > 0 && formatDuration(run.elapsed_seconds)),
      hideBelow: 'md',
    },
    { ...figure('cost', 'Cost', (run) => <Money bgl={run.cost_so_far} />), hideBelow: 'sm' },
    ...(canResume
      ? [
          {
            id: 'resume',
            header: <span className="sr-only">Resume</span>,
            cell: (run: SweptRun) => <ResumeButton run={run} />,
            width: '8rem',
            control: true,
          },
        ]
      : []),
  ];
}

function figure(id: string, header: string, cell: (run: SweptRun) => ReactNode): Column<SweptRun> {
  return { id, header, cell: (run) => cell(run) || '–', numeric: true, width: '7rem' };
}

/** The first one leads to the run. */
function valueColumn(sweep: Sweep, parameter: SweepParameter, leads: boolean): Column<SweptRun> {
  return {
    id: parameter,
    header: labelOf(parameter),
    width: '7rem',
    cell: (run) => {
      const value = String(run.parameters[parameter]);
      if (!leads) return <span className="tabular-nums">{value}</span>;
      return (
        <Link
          to="/runs/$id"
          params={{ id: run.run_id }}
          aria-label={nameRun(sweep, run)}
          className="rounded font-medium tabular-nums hover:underline"
        >
          {value}
        </Link>
      );
    },
  };
}

function CurveBox({ name, run, drawn }: { name: string; run: SweptRun; drawn: Drawn }) {
  const checked = drawn.ids.includes(run.run_id);
  return (
    // All of the cell is the target.
    <label className="absolute inset-0 flex items-center pl-5 select-none">
      <CheckboxBox
        checked={checked}
        disabled={drawn.isFull && !checked}
        onCheckedChange={(next) => drawn.toggle(run.run_id, next)}
      />
      <span className="sr-only">Draw the curves of {name}</span>
    </label>
  );
}

/** With a mark on the best of all. */
function Best({ sweep, run }: { sweep: Sweep; run: SweptRun }) {
  if (!run.held_out) return '–';
  const best = run.held_out.best.toFixed(3);
  if (run.run_id !== sweep.best_run_id) return best;
  return (
    <span className="inline-flex items-center gap-1 font-semibold text-accent-text">
      <Star aria-label="Best" className="size-3.5 fill-current" />
      {best}
    </span>
  );
}

/** With how far it is, or why it failed. */
function State({ sweep, run }: { sweep: Sweep; run: SweptRun }) {
  if (run.state === 'running')
    return (
      <Progress
        className="min-w-24"
        hideLabel
        label={`Progress of ${nameRun(sweep, run)}`}
        value={run.progress}
      />
    );
  return (
    <div className="flex min-w-0 flex-col items-start gap-1">
      <StatusBadge status={displayState(run)} />
      {run.state === 'failed' && (
        <span className="min-w-44 text-muted text-xs [overflow-wrap:anywhere]">{run.reason}</span>
      )}
    </div>
  );
}
