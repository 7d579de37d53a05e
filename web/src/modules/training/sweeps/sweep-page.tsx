import type { Sweep } from '@bakehouse/contract/sweeps';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Square } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { DataTable } from '../../../ui/data-table.tsx';
import { Figure } from '../../../ui/figure.tsx';
import { Missing } from '../../../ui/missing.tsx';
import { Money } from '../../../ui/money.tsx';
import { PageHeader } from '../../../ui/page-header.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { StatusBadge } from '../../../ui/status-badge.tsx';
import { cancelSweepQuestion } from '../runs/run-sentences.ts';
import { hasEnded } from '../runs/run-state.ts';
import { UseModel } from '../runs/use-model.tsx';
import { choiceSentence, progressSentence, ranked, sweepState } from './describe-sweep.ts';
import { useCancelSweep, useSweep } from './sweep-calls.ts';
import { sweepColumns } from './sweep-columns.tsx';
import { SweepCurves } from './sweep-curves.tsx';
import { SweepPlot } from './sweep-plot.tsx';

const route = getRouteApi('/app/sweeps/$id');

/** As many curves as can be distinguished. */
const DRAWN_MAX = 5;

export function SweepPage() {
  const { id } = route.useParams();
  return (
    <QueryView
      query={useSweep(id)}
      failed="This sweep cannot be shown"
      pending={<PendingPage />}
      missing={
        <Missing
          title="There is no such sweep"
          text="The link may be mistyped, or the sweep belongs to another account."
          to="/sweeps"
          label="Go to Sweeps"
        />
      }
    >
      {(sweep) => <LoadedPage key={id} sweep={sweep} />}
    </QueryView>
  );
}

/** The page to come: title, figures, table and plots. */
function PendingPage() {
  return (
    <LoadingRegion>
      <Skeleton className="mb-2 h-5 w-24" />
      <Skeleton className="mb-6 h-9 w-64 max-w-full" />
      <Skeleton className="mb-5 h-20 rounded-xl" />
      <Skeleton className="mb-5 h-72 rounded-xl" />
      <div className="grid gap-5 lg:grid-cols-2">
        <Skeleton className="h-78 rounded-xl" />
        <Skeleton className="h-78 rounded-xl" />
      </div>
    </LoadingRegion>
  );
}

function LoadedPage({ sweep }: { sweep: Sweep }) {
  const navigate = useNavigate();
  // Until somebody chooses, those that are the best so far.
  const [chosen, setChosen] = useState<readonly string[] | null>(null);
  const best = ranked(sweep).slice(0, DRAWN_MAX);
  const ids = chosen ?? best.map(({ run_id }) => run_id);
  const drawn = {
    ids,
    isFull: ids.length >= DRAWN_MAX,
    toggle: (runId: string, checked: boolean) =>
      setChosen(checked ? [...ids, runId] : ids.filter((one) => one !== runId)),
  };
  const bestRun = sweep.runs.find(({ run_id }) => run_id === sweep.best_run_id);
  const [first] = sweep.runs;
  return (
    <>
      <PageHeader
        title={sweep.title}
        parents={[
          { label: 'LLM Training', to: '/llm-training' },
          { label: 'Sweeps', to: '/sweeps' },
        ]}
        badge={<StatusBadge status={sweepState(sweep)} />}
        description={first && `Sweep of ${first.base_model.title} on ${first.dataset.title}`}
        actions={
          <>
            <CancelButton sweep={sweep} />
            {bestRun && <UseModel run={bestRun} label="Deploy the best" />}
          </>
        }
      />
      <Summary sweep={sweep} />
      <Card title="Runs" description={`Tick up to ${DRAWN_MAX} to draw their curves.`} className="mb-5" flush>
        <DataTable
          label="Runs of the sweep"
          columns={sweepColumns(sweep, drawn)}
          rows={sweep.runs}
          rowKey={(run) => run.run_id}
          rowHeight={56}
          onRowClick={(run) => void navigate({ to: '/runs/$id', params: { id: run.run_id } })}
        />
      </Card>
      <div className="grid gap-5 lg:grid-cols-2">
        <div className="min-w-0 lg:col-span-2">
          <SweepPlot sweep={sweep} />
        </div>
        <SweepCurves sweep={sweep} runs={sweep.runs.filter(({ run_id }) => ids.includes(run_id))} />
      </div>
    </>
  );
}

/** How far it is, what it costs, and which run is the best. */
function Summary({ sweep }: { sweep: Sweep }) {
  const isOver = sweep.runs.every(hasEnded);
  return (
    <Card className="mb-5">
      <p role="status" className="font-medium">
        {choiceSentence(sweep)}
      </p>
      <dl className="mt-3 flex flex-wrap gap-x-10 gap-y-3">
        <Figure label="Progress">{progressSentence(sweep)}</Figure>
        <Figure label={isOver ? 'Cost' : 'Cost so far'}>
          <Money bgl={sweep.cost_so_far} />
        </Figure>
        {!isOver && (
          <Figure label="Held">
            <Money bgl={sweep.held} />
          </Figure>
        )}
      </dl>
    </Card>
  );
}

function CancelButton({ sweep }: { sweep: Sweep }) {
  const [asking, setAsking] = useState(false);
  const cancel = useCancelSweep();
  const close = () => setAsking(false);
  const canStop = sweep.runs.some((run) => !hasEnded(run) && run.state !== 'stopping');
  return (
    <>
      {canStop && (
        <Button onClick={() => setAsking(true)}>
          <Square aria-hidden />
          Cancel sweep
        </Button>
      )}
      <ConfirmDialog
        open={asking}
        onOpenChange={close}
        {...cancelSweepQuestion}
        cancelLabel="Keep training"
        pending={cancel.isPending}
        onConfirm={() => cancel.mutate(sweep.sweep_id, { onSettled: close })}
      />
    </>
  );
}
