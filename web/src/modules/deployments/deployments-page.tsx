import type { Deployment } from '@bakehouse/contract/deployments/text';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Rocket } from 'lucide-react';
import { useState } from 'react';
import { formatNumber } from '../../lib/format/format-number.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Figure } from '../../ui/figure.tsx';
import { ListSkeleton } from '../../ui/list-skeleton.tsx';
import { Money } from '../../ui/money.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Pager } from '../../ui/pager.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { useUser } from '../accounts/api.ts';
import { useDeploymentStats, useDeployments } from './api.ts';
import { StarterChatCard } from './chat/starter-chat-card.tsx';
import { ChooseModelDialog } from './choose-model-dialog.tsx';
import { DeploymentListSwitch } from './deployment-list-switch.tsx';
import { deploymentColumns } from './details/deployment-columns.tsx';
import { NameLine } from './details/name-line.tsx';
import { deploymentKinds } from './kinds.ts';
import { DeploymentFilters, NoDeploymentsFound } from './list/deployment-filters.tsx';
import { isNarrowed } from './list/deployments-search.ts';

const route = getRouteApi('/app/my-deployments');

const KIND = 'text';
const { words } = deploymentKinds[KIND];

const ROW_HEIGHT = 60;

/** The deployments, narrowed by what stands in the address. */
export function DeploymentsPage() {
  const user = useUser();
  const [choosing, setChoosing] = useState(false);
  const shown = route.useSearch();
  const { search, status, sort, ended = false } = shown;
  const navigate = route.useNavigate();
  const deployments = useDeployments(KIND, user.id, ended, { search, status, sort }, { showsCosts: true });
  return (
    <>
      <PageHeader
        title={words.title}
        description={words.about}
        actions={
          <Button variant="primary" onClick={() => setChoosing(true)}>
            <Rocket aria-hidden />
            {words.deploy}
          </Button>
        }
      />
      <DeploymentListSwitch shown="text" />
      <Stats userId={user.id} />
      <DeploymentFilters
        shown={shown}
        onChange={(wanted) => void navigate({ search: wanted, replace: true })}
      />
      <DeploymentList deployments={deployments} onDeploy={() => setChoosing(true)} />
      <StarterChatCard above={deployments} />
      {choosing && <ChooseModelDialog onClose={() => setChoosing(false)} />}
    </>
  );
}

type ListProps = { deployments: ReturnType<typeof useDeployments>; onDeploy: () => void };

function DeploymentList({ deployments, onDeploy }: ListProps) {
  const shown = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Card flush>
      <QueryView
        query={deployments}
        flush
        failed="Your deployments could not be loaded"
        pending={<ListSkeleton rowHeight={ROW_HEIGHT} />}
        isEmpty={({ pages }) => pages[0]?.pods.length === 0}
        empty={
          isNarrowed(shown) ? (
            <NoDeploymentsFound />
          ) : (
            <EmptyState
              icon={<Rocket aria-hidden />}
              title={words.none}
              description={words.noneAbout}
              action={<Button onClick={onDeploy}>{words.deploy}</Button>}
            />
          )
        }
      >
        {({ pages }) => (
          <DataTable
            label="Deployments"
            columns={columns}
            rows={pages.flatMap((page) => page.pods)}
            rowKey={(pod) => pod.pod_id}
            rowHeight={ROW_HEIGHT}
            more={deployments.hasNextPage}
            onRowClick={(pod) =>
              void navigate({ to: '/my-deployments/$podId', params: { podId: pod.pod_id } })
            }
          />
        )}
      </QueryView>
      <Pager pages={deployments} />
    </Card>
  );
}

const columns: Column<Deployment>[] = [
  {
    id: 'title',
    header: 'Model',
    cell: (pod) => (
      <div className="min-w-0">
        <Link
          to="/my-deployments/$podId"
          params={{ podId: pod.pod_id }}
          className="rounded font-medium hover:underline [overflow-wrap:anywhere]"
        >
          {pod.title}
        </Link>
        <NameLine deployment={pod} />
      </div>
    ),
  },
  { id: 'status', header: 'Status', cell: (pod) => <StatusBadge status={pod.status} />, width: '8rem' },
  { id: 'base', header: 'Base', cell: (pod) => pod.base_model_title, width: '12rem', hideBelow: 'lg' },
  ...deploymentColumns,
];

function Stats({ userId }: { userId: string }) {
  const stats = useDeploymentStats(KIND, userId);
  const figures = [
    { label: 'Running', value: stats.data && <Running {...stats.data} /> },
    { label: 'Requests', value: stats.data && formatNumber(stats.data.requests) },
    { label: 'Tokens generated', value: stats.data && formatNumber(stats.data.completion_tokens) },
    { label: 'Cost', value: stats.data && <Money bgl={stats.data.cost} /> },
  ];
  return (
    <dl className="mb-5 grid grid-cols-2 gap-3 sm:grid-cols-4">
      {figures.map(({ label, value }) => (
        <Figure key={label} card label={label}>
          {value ?? (stats.isError ? '–' : <Skeleton className="h-7 w-16" />)}
        </Figure>
      ))}
    </dl>
  );
}

/** How many run; those that sleep answer too, after they woke. */
function Running({ running, sleeping }: { running: number; sleeping: number }) {
  return (
    <>
      {formatNumber(running)}
      {sleeping > 0 && (
        <span className="ml-2 whitespace-nowrap font-normal text-[0.8125rem] text-muted">
          {formatNumber(sleeping)} sleeping
        </span>
      )}
    </>
  );
}
