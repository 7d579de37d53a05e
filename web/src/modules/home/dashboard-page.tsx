import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, lazyRouteComponent } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { queryClient } from '../../lib/api/query-client.ts';
import { aboutDuration } from '../../lib/format/format-time.ts';
import { ownWorkQuery } from '../../lib/live/own-work.ts';
import { useSheets } from '../../lib/sheet.ts';
import { LazyPart } from '../../ui/boundary.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { sessionQuery, useUser } from '../accounts/session.ts';
import { balanceQuery, spendQuery, useBalance } from '../billing/credit-queries.ts';
import { SpendCard } from '../billing/statement/spend/spend-card.tsx';
import { assetListQuery } from '../datasets/asset-queries.ts';
import {
  deploymentListQuery,
  newestDeploymentsQuery,
  useNewestDeployments,
} from '../deployments/deployment-lists.ts';
import { runListQuery, useRuns } from '../fine-tuning/runs/run-queries.ts';
import { displayState } from '../fine-tuning/runs/run-state.ts';
import { UnfinishedBadge } from '../fine-tuning/runs/unfinished/unfinished-badge.tsx';
import { RecentGenerations } from '../gallery/gallery/recent-generations.tsx';
import { recentGenerationsQuery } from '../gallery/generation-queries.ts';
import { BalanceSummary } from './balance-summary.tsx';
import { OnboardingCard } from './onboarding-card.tsx';
import { RecentCard } from './recent-card.tsx';

/** Unlike `React.lazy`, renders immediately after `preload`. */
const WorkInProgress = lazyRouteComponent(() => import('./work-in-progress.tsx'), 'WorkInProgress');

/** Reads what determines the heights of the cards. */
export async function readDashboard(): Promise<void> {
  const user = await queryClient.ensureQueryData(sessionQuery);
  if (!user) return;
  const { id, onboarding } = user;
  await Promise.allSettled([
    WorkInProgress.preload?.(),
    queryClient.ensureQueryData(balanceQuery(id)),
    queryClient.ensureQueryData(spendQuery(id, {})),
    queryClient.ensureQueryData(newestDeploymentsQuery(id)),
    queryClient.ensureQueryData(ownWorkQuery),
    queryClient.ensureInfiniteQueryData(runListQuery),
    queryClient.ensureInfiniteQueryData(assetListQuery(id, { types: 'RAW' })),
    queryClient.ensureInfiniteQueryData(assetListQuery(id, { types: 'MODEL' })),
    queryClient.ensureInfiniteQueryData(recentGenerationsQuery(id)),
    ...(onboarding.dismissed
      ? []
      : [queryClient.ensureInfiniteQueryData(deploymentListQuery('text', id, { status: 'all' }))]),
  ]);
}

/** Current work and next steps. */
export function DashboardPage() {
  return (
    <>
      <PageHeader title="Dashboard" />
      <Cards />
    </>
  );
}

function Cards() {
  const user = useUser();
  const balance = useBalance(user.id);
  const spend = useQuery(spendQuery(user.id, {}));
  return (
    <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
      <div className="grid grid-cols-1 gap-6">
        {!user.onboarding.dismissed && <OnboardingCard />}
        <LazyPart>
          <WorkInProgress />
        </LazyPart>
        {spend.data && spend.data.days.length > 0 && <SpendCard />}
        <RecentRuns />
        <RecentDeployments />
        <Pictures />
      </div>
      <div className="grid grid-cols-1 gap-6">
        <BalanceSummary balance={balance} spend={spend} isReturning={user.is_returning} />
        <RecentAssets types="RAW" />
        <RecentAssets types="MODEL" />
      </div>
    </div>
  );
}

function RecentRuns() {
  const query = useRuns();
  const sheets = useSheets();
  return (
    <RecentCard
      title="Training"
      to="/llm-training"
      query={query}
      rowsOf={({ pages }) => pages[0]?.runs ?? []}
      rowKey={(run) => run.run_id}
      empty="Fine-tune a language model on your own data."
      action={
        <Button size="sm" onClick={() => sheets.open('create-model')}>
          Create Model
        </Button>
      }
      row={(run) => (
        <Row
          title={
            <Link to="/runs/$id" params={{ id: run.run_id }}>
              {run.title}
            </Link>
          }
          detail={
            run.state === 'running' && run.remaining_seconds !== null
              ? `${Math.floor(run.progress)}%, ${aboutDuration(run.remaining_seconds)} left`
              : madeText(run.base_model.title, run.created_at)
          }
        >
          <StatusBadge status={displayState(run)} moving={displayState(run) === 'running'} />
        </Row>
      )}
    />
  );
}

function RecentDeployments() {
  const query = useNewestDeployments(useUser().id);
  return (
    <RecentCard
      title="Deployments"
      to="/my-deployments"
      query={query}
      rowsOf={({ deployments }) => deployments}
      rowKey={(pod) => pod.pod_id}
      empty="Serve a model and chat with it."
      action={
        <ButtonLink to="/my-deployments" size="sm">
          Deploy Models
        </ButtonLink>
      }
      row={(pod) => (
        <Row
          title={
            <Link
              to={pod.kind === 'text' ? '/my-deployments/$podId' : '/my-deployments/images/$podId'}
              params={{ podId: pod.pod_id }}
            >
              {pod.title}
            </Link>
          }
          detail={pod.reason || madeText(pod.model_name, pod.created_at)}
        >
          <StatusBadge status={pod.status} />
        </Row>
      )}
    />
  );
}

/** Renders only if there are any: the other cards suggest how to start. */
function Pictures() {
  const user = useUser();
  const list = useInfiniteQuery(recentGenerationsQuery(user.id));
  if (!list.data?.pages[0]?.generations.length) return null;
  return <RecentGenerations title="Generations" />;
}

const assetTexts = {
  RAW: {
    title: 'Datasets',
    to: '/dataset',
    page: '/dataset/$id/description',
    empty: 'Your data: csv, jsonl, json, txt or parquet.',
    create: { sheet: 'create-dataset', label: 'Create Dataset' },
  },
  MODEL: {
    title: 'Models',
    to: '/model',
    page: '/model/$id/description',
    empty: 'Models that you fine-tune or upload.',
    create: { sheet: 'create-model', label: 'Create Model' },
  },
} as const;

function RecentAssets({ types }: { types: 'RAW' | 'MODEL' }) {
  const user = useUser();
  const query = useInfiniteQuery(assetListQuery(user.id, { types }));
  const sheets = useSheets();
  const { title, to, page, empty, create } = assetTexts[types];
  return (
    <RecentCard
      title={title}
      to={to}
      query={query}
      rowsOf={({ pages }) => pages[0]?.datasets ?? []}
      rowKey={(asset) => asset.dataset_id}
      empty={empty}
      action={
        <Button size="sm" onClick={() => sheets.open(create.sheet)}>
          {create.label}
        </Button>
      }
      skeletons={2}
      row={(asset) => (
        <Row
          title={
            <Link to={page} params={{ id: asset.dataset_id }}>
              {asset.title}
            </Link>
          }
          detail={<RelativeTime at={asset.updated_at} />}
        >
          {types === 'MODEL' && (
            <UnfinishedBadge model={asset} models={query.data?.pages[0]?.datasets ?? []} />
          )}
        </Row>
      )}
    />
  );
}

function madeText(model: string, at: string): ReactNode {
  return (
    <>
      {model} · <RelativeTime at={at} />
    </>
  );
}

/** The link covers the whole row. */
function Row({ title, detail, children }: { title: ReactNode; detail: ReactNode; children?: ReactNode }) {
  return (
    <div className="relative flex items-center gap-4 px-5 py-3 hover:bg-subtle">
      <div className="min-w-0 flex-1">
        <div className="truncate font-medium [&>a]:after:absolute [&>a]:after:inset-0">{title}</div>
        <div className="truncate text-compact text-muted tabular-nums">{detail}</div>
      </div>
      {children}
    </div>
  );
}
