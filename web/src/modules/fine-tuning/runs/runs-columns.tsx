import type { Run } from '@bakehouse/contract/runs';
import { Link } from '@tanstack/react-router';
import { formatNumber } from '../../../lib/format/format-number.ts';
import { CheckboxBox } from '../../../ui/checkbox-box.tsx';
import type { Column } from '../../../ui/data-table.tsx';
import { Money } from '../../../ui/money.tsx';
import { Progress } from '../../../ui/progress.tsx';
import { RelativeTime } from '../../../ui/relative-time.tsx';
import { StatusBadge } from '../../../ui/status-badge.tsx';
import { displayState } from './run-state.ts';

/** Ids of the compared runs, and whether the limit is reached. */
type Compared = {
  ids: readonly string[];
  isFull: boolean;
  toggle: (runId: string, checked: boolean) => void;
};

/** Columns of the run list; the first selects runs to compare. */
export function runsColumns(compared: Compared): Column<Run>[] {
  return [
    {
      id: 'compare',
      header: <span className="sr-only">Compare</span>,
      cell: (run) => <CompareBox run={run} compared={compared} />,
      width: '3.125rem',
      control: true,
    },
    { id: 'title', header: 'Model', cell: (run) => <Name run={run} /> },
    {
      id: 'state',
      header: 'Status',
      cell: (run) => <StatusBadge status={displayState(run)} />,
      width: '8rem',
    },
    {
      id: 'progress',
      header: 'Progress',
      cell: (run) => <Steps run={run} />,
      width: '9rem',
      hideBelow: 'md',
    },
    {
      id: 'eval',
      header: 'Held-out loss',
      cell: (run) => (typeof run.summary?.eval_loss === 'number' ? run.summary.eval_loss.toFixed(3) : '–'),
      numeric: true,
      width: '8rem',
      hideBelow: 'lg',
    },
    {
      id: 'cost',
      header: 'Cost',
      cell: (run) => <Cost run={run} />,
      numeric: true,
      width: '7rem',
      hideBelow: 'md',
    },
    {
      id: 'created',
      header: 'Created',
      cell: (run) => (
        <span className="whitespace-nowrap text-muted">
          <RelativeTime at={run.created_at} />
        </span>
      ),
      width: '9rem',
      hideBelow: 'lg',
    },
  ];
}

function CompareBox({ run, compared }: { run: Run; compared: Compared }) {
  const checked = compared.ids.includes(run.run_id);
  return (
    // Make the whole cell clickable.
    <label className="absolute inset-0 flex items-center pl-5 select-none">
      <CheckboxBox
        checked={checked}
        disabled={compared.isFull && !checked}
        onCheckedChange={(next) => compared.toggle(run.run_id, next)}
      />
      <span className="sr-only">Compare {run.title}</span>
    </label>
  );
}

function Name({ run }: { run: Run }) {
  return (
    <div className="min-w-0">
      <Link
        to="/runs/$id"
        params={{ id: run.run_id }}
        className="rounded font-medium hover:underline [overflow-wrap:anywhere]"
      >
        {run.title}
      </Link>
      <p className="text-muted text-xs">
        {run.base_model.title} on {run.dataset.title}
      </p>
    </div>
  );
}

function Steps({ run }: { run: Run }) {
  if (run.state === 'running') {
    return <Progress hideLabel label={`Progress of ${run.title}`} value={run.progress} />;
  }
  return (
    <span className="text-muted tabular-nums">
      {run.steps_total > 0 ? `${formatNumber(run.step)} of ${formatNumber(run.steps_total)}` : '–'}
    </span>
  );
}

function Cost({ run }: { run: Run }) {
  if (run.charged !== null) return <Money bgl={run.charged} />;
  return (
    <span className="text-muted">
      <Money bgl={run.held} /> held
    </span>
  );
}
