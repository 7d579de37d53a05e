import type { PicturesRun, Run } from '@bakehouse/contract/runs';
import { getRouteApi } from '@tanstack/react-router';
import { Box, Square, WandSparkles } from 'lucide-react';
import { useState } from 'react';
import { queryClient } from '../../../lib/api/query-client.ts';
import { Button, ButtonLink } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { Disclosure } from '../../../ui/disclosure.tsx';
import { LogView } from '../../../ui/log-view.tsx';
import { Missing } from '../../../ui/missing.tsx';
import { PageHeader } from '../../../ui/page-header.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { StatusBadge } from '../../../ui/status-badge.tsx';
import { Tabs } from '../../../ui/tabs.tsx';
import { sessionQuery } from '../../accounts/session.ts';
import { deploymentsOfQuery } from '../../deployments/deployment-lists.ts';
import { RunTrackers } from '../../tracking/run-trackers.tsx';
import { LocalRunGuide } from '../exports/local-run-guide.tsx';
import { HeldOutAnswers } from '../held-out/held-out-answers.tsx';
import { heldOutAnswersQuery } from '../held-out/held-out-calls.ts';
import { generatorLinkFor } from '../pictures/generator-link-for.ts';
import { runSamplesQuery } from '../pictures/picture-calls.ts';
import { SampleGrid } from '../pictures/sample-grid.tsx';
import { PendingCurves, RunCurves } from './curves/run-curves.tsx';
import { ResumeButton } from './resume-dialog.tsx';
import { areaPath } from './run-area.ts';
import { runLogsQuery, runMetricsQuery, useCancelRun, useRunLogs } from './run-calls.ts';
import { RunDetails } from './run-details.tsx';
import { RunOutcome } from './run-outcome.tsx';
import { RunProgress } from './run-progress.tsx';
import { runQuery, useRun } from './run-queries.ts';
import { cancelQuestion, tabTitle } from './run-sentences.ts';
import { displayState, hasEnded } from './run-state.ts';
import { UseModel } from './use-model.tsx';

const route = getRouteApi('/app/runs/$id');

/** Reads a run and what determines the layout of its page. */
export async function readRun(id: string): Promise<void> {
  await Promise.allSettled([
    queryClient.ensureQueryData(runMetricsQuery(id)),
    queryClient.ensureQueryData(runLogsQuery(id)),
    queryClient.ensureQueryData(runQuery(id)).then(readMore),
  ]);
}

async function readMore({ run_id: id, kind, state, model_id: modelId }: Run): Promise<void> {
  const user = await queryClient.ensureQueryData(sessionQuery);
  await Promise.allSettled([
    // Determines the button of a finished run.
    user && modelId && queryClient.ensureQueryData(deploymentsOfQuery(user.id, modelId)),
    kind === 'text' && state === 'completed' && queryClient.ensureQueryData(heldOutAnswersQuery(id)),
    kind === 'pictures' && queryClient.ensureQueryData(runSamplesQuery(id)),
  ]);
}

export function RunPage() {
  const { id } = route.useParams();
  const run = useRun(id);
  return (
    <QueryView
      query={run}
      failed="This run cannot be shown"
      pending={<PendingPage />}
      missing={
        <Missing
          title="Run not found"
          text="The link may be mistyped, or the run belongs to another account."
          to="/llm-training"
          label="Go to LLM Training"
        />
      }
    >
      {(loaded) => <LoadedPage key={id} run={loaded} />}
    </QueryView>
  );
}

/** Placeholder: title, progress, curves, log and details. */
function PendingPage() {
  return (
    <LoadingRegion>
      <Skeleton className="mb-2 h-5 w-24" />
      <Skeleton className="mb-6 h-9 w-64 max-w-full" />
      <Skeleton className="mb-5 h-24 rounded-xl" />
      <PendingCurves />
    </LoadingRegion>
  );
}

function LoadedPage({ run }: { run: Run }) {
  const [asking, setAsking] = useState(false);
  const cancel = useCancelRun();
  const close = () => setAsking(false);
  const { tab = 'results' } = route.useSearch();
  const navigate = route.useNavigate();
  const over = hasEnded(run);
  // Before that, there is nothing to draw or to read.
  const hasBegun = over || run.step > 0 || (run.state !== 'queued' && run.state !== 'starting');
  return (
    <>
      <PageHeader
        title={run.title}
        tabTitle={tabTitle(run)}
        parents={[
          { label: run.kind === 'pictures' ? 'Diffusion Training' : 'LLM Training', to: areaPath(run) },
        ]}
        badge={<StatusBadge status={displayState(run)} />}
        actions={
          <>
            {!over && run.state !== 'stopping' && (
              <Button onClick={() => setAsking(true)}>
                <Square aria-hidden />
                Cancel
              </Button>
            )}
            <ResumeButton run={run} />
            <ButtonLink to="/model/$id/description" params={{ id: run.model_id }}>
              <Box aria-hidden />
              Model
            </ButtonLink>
            {run.state === 'completed' &&
              (run.kind === 'pictures' ? <UseLora run={run} /> : <UseModel run={run} />)}
          </>
        }
      />
      {over ? <RunOutcome run={run} /> : <RunProgress run={run} />}
      {hasBegun ? (
        <Tabs
          value={tab}
          onChange={(next) => void navigate({ search: { tab: next }, replace: true })}
          tabs={[
            { value: 'results', label: 'Results', content: <Results run={run} /> },
            { value: 'log', label: 'Log', content: <Log runId={run.run_id} ended={over} /> },
            { value: 'details', label: 'Details', content: <Details run={run} /> },
          ]}
        />
      ) : (
        <Disclosure title="Details">
          <Details run={run} />
        </Disclosure>
      )}
      <ConfirmDialog
        open={asking}
        onOpenChange={close}
        {...cancelQuestion(run)}
        cancelLabel={run.kind === 'export' ? 'Keep exporting' : 'Keep training'}
        pending={cancel.isPending}
        onConfirm={() => cancel.mutate(run.run_id, { onSettled: close })}
      />
    </>
  );
}

/** The answers or samples of a run, and its curves. */
function Results({ run }: { run: Run }) {
  return (
    <>
      {run.kind === 'export' && run.state === 'completed' && <LocalRunGuide run={run} />}
      {run.kind === 'pictures' && <SampleGrid runId={run.run_id} className="mb-5" />}
      {run.kind === 'text' && run.state === 'completed' && (
        <HeldOutAnswers
          runId={run.run_id}
          models={{ modelId: run.model_id, baseModelId: run.base_model.dataset_id }}
          className="mb-5"
        />
      )}
      {run.kind !== 'export' && <RunCurves runId={run.run_id} kind={run.kind} ended={hasEnded(run)} />}
    </>
  );
}

function Details({ run }: { run: Run }) {
  return (
    <div className="grid items-start gap-5 lg:grid-cols-2">
      <RunDetails run={run} />
      {run.kind !== 'export' && <RunTrackers runId={run.run_id} />}
    </div>
  );
}

/** Opens the generator with the LoRA and the first sample prompt. */
function UseLora({ run }: { run: PicturesRun }) {
  return (
    <ButtonLink variant="primary" {...generatorLinkFor(run.model_id)}>
      <WandSparkles aria-hidden />
      Use this LoRA
    </ButtonLink>
  );
}

function Log({ runId, ended }: { runId: string; ended: boolean }) {
  return (
    <Card title="Log">
      <QueryView
        query={useRunLogs(runId)}
        failed="The log could not be loaded"
        pending={
          <LoadingRegion>
            <Skeleton className="h-80 w-full rounded-xl" />
          </LoadingRegion>
        }
      >
        {({ lines }) => (
          <LogView lines={lines} {...(ended && { emptyText: 'This run did not log anything.' })} />
        )}
      </QueryView>
    </Card>
  );
}
