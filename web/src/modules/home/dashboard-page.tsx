import type { User } from '@bakehouse/contract/accounts';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ComponentProps, type ReactNode, Suspense, startTransition, useEffect, useState } from 'react';
import { queryClient } from '../../lib/api/query-client.ts';
import { amountsInCurrency } from '../../lib/format/currency.ts';
import { aboutDuration } from '../../lib/format/format-time.ts';
import { loadable } from '../../lib/loadable.tsx';
import { useSheets } from '../../lib/sheet.ts';
import { useInitialQueries } from '../../lib/use-initial-queries.ts';
import { Boundary, EmptyFallback } from '../../ui/boundary.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { useUser } from '../accounts/session.ts';
import { assetListQuery } from '../assets/asset-queries.ts';
import { balanceQuery, spendQuery, useBalance } from '../credits/credit-queries.ts';
import {
  deploymentListQuery,
  newestDeploymentsQuery,
  useNewestDeployments,
} from '../deployments/deployment-lists.ts';
import { RecentGenerations } from '../generations/deferred-parts.ts';
import { recentGenerationsQuery } from '../generations/generation-queries.ts';
import { runListQuery, useRuns } from '../training/runs/run-queries.ts';
import { displayState } from '../training/runs/run-state.ts';
import { UnfinishedBadge } from '../training/runs/unfinished/unfinished-badge.tsx';
import { BalanceSummary } from './balance-summary.tsx';
import { columnsClass, PendingCard, PendingDashboard, PendingOnboarding } from './pending-dashboard.tsx';
import { RecentCard } from './recent-card.tsx';

/** Spending per day. */
const SpendCard = loadable(async () => (await import('../credits/statement/spend/spend-card.tsx')).SpendCard);

/** Prefetches the page's data before it renders. */
export function readDashboard({ id, onboarding }: User): void {
  void queryClient.prefetchQuery(balanceQuery(id));
  void queryClient.prefetchQuery(spendQuery(id, {}));
  void queryClient.prefetchQuery(newestDeploymentsQuery(id));
  void queryClient.prefetchInfiniteQuery(runListQuery);
  void queryClient.prefetchInfiniteQuery(assetListQuery(id, { types: 'RAW' }));
  void queryClient.prefetchInfiniteQuery(assetListQuery(id, { types: 'MODEL' }));
  void queryClient.prefetchInfiniteQuery(recentGenerationsQuery(id));
  if (onboarding.dismissed) return;
  void queryClient.prefetchInfiniteQuery(deploymentListQuery('text', id, { status: 'all' }));
  void OnboardingCard.preload();
}

/** Current work and next steps. */
export function DashboardPage() {
  const user = useUser();
  const { dismissed } = user.onboarding;
  const balance = useBalance(user.id);
  const spend = useQuery(spendQuery(user.id, {}));
  const everDeployed = useInfiniteQuery({
    ...deploymentListQuery('text', user.id, { status: 'all' }),
    enabled: !dismissed,
  });
  // Each card reads its own data; this waits only for what determines the cards' heights.
  const answered = useInitialQueries(
    balance,
    spend,
    useInfiniteQuery(runListQuery),
    useQuery(newestDeploymentsQuery(user.id)),
    ...(dismissed ? [] : [everDeployed]),
    useInfiniteQuery(assetListQuery(user.id, { types: 'RAW' })),
    useInfiniteQuery(assetListQuery(user.id, { types: 'MODEL' })),
    useInfiniteQuery(recentGenerationsQuery(user.id)),
  );
  const works = useMayWork(balance.data);
  const ready = useCodeOfCards(answered, {
    begins: !dismissed,
    works,
    spent: (spend.data?.days.length ?? 0) > 0,
  });
  return (
    <>
      <PageHeader title="Dashboard" />
      {ready ? <Cards balance={balance} spend={spend} works={works} /> : <PendingDashboard />}
    </>
  );
}

/** Returns true if work may be in progress: it holds credits, except for free pictures. */
function useMayWork(balance: { held: string } | undefined): boolean {
  const { data } = useInfiniteQuery(recentGenerationsQuery(useUser().id));
  const isFree = balance && Number(balance.held) === 0;
  return !isFree || (data?.pages[0]?.generations.some(({ ended_at }) => ended_at === null) ?? false);
}

/** Returns true once the code of all displayed cards is loaded; a late card would shift the layout. */
function useCodeOfCards(
  answered: boolean,
  { begins, works, spent }: { begins: boolean; works: boolean; spent: boolean },
): boolean {
  const { id } = useUser();
  // A returning user has it loaded. Prefetched data may arrive before the code.
  const [ready, setReady] = useState(
    () =>
      answered &&
      (!begins || OnboardingCard.isLoaded()) &&
      (!works || WorkInProgress.isLoaded()) &&
      (!spent || SpendCard.isLoaded()),
  );
  useEffect(() => {
    if (!answered) return;
    const needed = [
      ...(begins ? [OnboardingCard.preload()] : []),
      ...(works
        ? [WorkInProgress.preload(), import('./work-in-progress.tsx').then(({ readWork }) => readWork(id))]
        : []),
      ...(spent ? [SpendCard.preload()] : []),
    ];
    // Rendering all cards is slow on a phone; a transition lets input interrupt it.
    void Promise.allSettled(needed).then(() => startTransition(() => setReady(true)));
  }, [answered, begins, works, spent, id]);
  return ready;
}

/** Loaded only if work may be in progress. */
const WorkInProgress = loadable(async () => (await import('./work-in-progress.tsx')).WorkInProgress);

/** Loaded only if it was not dismissed. */
const OnboardingCard = loadable(async () => (await import('./onboarding-card.tsx')).OnboardingCard);

/** A card that is loaded on demand; if that fails, the others stay. */
function Part({ pending, children }: { pending?: ReactNode; children: ReactNode }) {
  return (
    <Boundary fallback={EmptyFallback}>
      <Suspense fallback={pending}>{children}</Suspense>
    </Boundary>
  );
}

function Onboarding() {
  return (
    <Part pending={<PendingOnboarding />}>
      <OnboardingCard />
    </Part>
  );
}

type CardsProps = Pick<ComponentProps<typeof BalanceSummary>, 'balance' | 'spend'> & { works: boolean };

function Cards({ balance, spend, works }: CardsProps) {
  const user = useUser();
  return (
    <div className={columnsClass}>
      <div className="grid grid-cols-1 gap-6">
        {!user.onboarding.dismissed && <Onboarding />}
        {works && (
          <Part>
            <WorkInProgress />
          </Part>
        )}
        {spend.data && spend.data.days.length > 0 && (
          <Part pending={<PendingCard title="Spending per day" rowClass="h-[200px]" />}>
            <SpendCard />
          </Part>
        )}
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
          detail={amountsInCurrency(pod.reason) || madeText(pod.model_name, pod.created_at)}
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
  return (
    <Part pending={<PendingCard title="Generations" rowClass="h-20" />}>
      <RecentGenerations title="Generations" />
    </Part>
  );
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
        <div className="truncate text-[0.8125rem] text-muted tabular-nums">{detail}</div>
      </div>
      {children}
    </div>
  );
}
