import type { Run } from '@bakehouse/contract/training';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Plus, Sparkles } from 'lucide-react';
import { relativeTime } from '../../lib/format-time.ts';
import { useSheets } from '../../lib/sheet.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ListSkeleton } from '../../ui/list-skeleton.tsx';
import { Money } from '../../ui/money.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Pager } from '../../ui/pager.tsx';
import { Progress } from '../../ui/progress.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { useRuns } from './api.ts';
import { CompareRuns } from './compare-runs.tsx';
import { shownState } from './run-sentences.ts';

const route = getRouteApi('/app/llm-training');

/** As many curves as can be told apart. */
const COMPARED_MAX = 4;
const ROW_HEIGHT = 60;

export function RunsPage() {
  const runs = useRuns();
  const sheets = useSheets();
  const { compare } = route.useSearch();
  const navigate = route.useNavigate();
  const compared = compare?.split(',').slice(0, COMPARED_MAX) ?? [];

  const toggle = (runId: string, checked: boolean) => {
    const next = checked ? [...compared, runId].slice(-COMPARED_MAX) : compared.filter((id) => id !== runId);
    void navigate({ search: next.length > 0 ? { compare: next.join(',') } : {}, replace: true });
  };
  const create = (
    <Button variant="primary" onClick={() => sheets.open('create-model', { modelType: 'finetune' })}>
      <Plus aria-hidden />
      New fine-tune
    </Button>
  );

  return (
    <>
      <PageHeader
        title="LLM Training"
        description="Your fine-tunes, running and finished."
        actions={create}
      />
      <Card flush>
        <QueryView
          query={runs}
          flush
          failed="Your runs could not be loaded"
          pending={<ListSkeleton rowHeight={ROW_HEIGHT} />}
          isEmpty={({ pages }) => pages[0]?.runs.length === 0}
          empty={
            <EmptyState
              icon={<Sparkles aria-hidden />}
              title="No runs yet"
              description="A run fine-tunes a model on one of your datasets. You can watch its curves as it learns."
              action={create}
            />
          }
        >
          {({ pages }) => (
            <DataTable
              label="Runs"
              columns={columnsWith(compared, toggle)}
              rows={pages.flatMap((page) => page.runs)}
              rowKey={(run) => run.run_id}
              rowHeight={ROW_HEIGHT}
              more={runs.hasNextPage}
              onRowClick={(run) => void navigate({ to: '/runs/$id', params: { id: run.run_id } })}
            />
          )}
        </QueryView>
        <Pager pages={runs} />
      </Card>
      {compared.length > 0 && <CompareRuns runIds={compared} />}
    </>
  );
}

function columnsWith(compared: string[], toggle: (runId: string, checked: boolean) => void): Column<Run>[] {
  return [
    {
      id: 'compare',
      header: <span className="sr-only">Compare</span>,
      cell: (run) => (
        <Checkbox
          checked={compared.includes(run.run_id)}
          onChange={(checked) => toggle(run.run_id, checked)}
          label={<span className="sr-only">Compare {run.title}</span>}
        />
      ),
      width: '2.5rem',
      hideBelow: 'sm',
    },
    {
      id: 'title',
      header: 'Model',
      cell: (run) => (
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
      ),
    },
    { id: 'state', header: 'State', cell: (run) => <StatusBadge status={shownState(run)} />, width: '8rem' },
    {
      id: 'progress',
      header: 'Progress',
      cell: (run) =>
        run.state === 'running' ? (
          <Progress hideLabel label={`Progress of ${run.title}`} value={run.progress} />
        ) : (
          <span className="text-muted tabular-nums">
            {run.steps_total > 0 ? `${run.step} of ${run.steps_total}` : '–'}
          </span>
        ),
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
      cell: (run) =>
        run.charged === null ? (
          <span className="text-muted">
            <Money bgl={run.held} /> held
          </span>
        ) : (
          <Money bgl={run.charged} />
        ),
      numeric: true,
      width: '7rem',
      hideBelow: 'md',
    },
    {
      id: 'created',
      header: 'Created',
      cell: (run) => (
        <span className="whitespace-nowrap text-muted">{relativeTime(new Date(run.created_at))}</span>
      ),
      width: '9rem',
      hideBelow: 'lg',
    },
  ];
}
