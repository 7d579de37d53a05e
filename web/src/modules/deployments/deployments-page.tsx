import type { Deployment } from '@bakehouse/contract/deployments';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Rocket } from 'lucide-react';
import { useState } from 'react';
import { relativeTime } from '../../lib/format-time.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
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
import { deviceName } from '../machine/api.ts';
import { useDeploymentStats, useDeployments } from './api.ts';
import { ChooseModelDialog } from './choose-model-dialog.tsx';
import { StarterChatCard } from './starter-chat-card.tsx';

const route = getRouteApi('/app/my-deployments');

const ROW_HEIGHT = 60;

export function DeploymentsPage() {
  const user = useUser();
  const { ended = false } = route.useSearch();
  const navigate = route.useNavigate();
  const [choosing, setChoosing] = useState(false);
  const deployments = useDeployments(user.id, ended);
  return (
    <>
      <PageHeader
        title="Deploy Models"
        description="Models that answer here and in your own programs. While nobody uses them, they sleep and cost nothing."
        actions={
          <Button variant="primary" onClick={() => setChoosing(true)}>
            <Rocket aria-hidden />
            Deploy a model
          </Button>
        }
      />
      <Stats userId={user.id} />
      <div className="mb-3 flex justify-end">
        <Checkbox
          checked={ended}
          onChange={(checked) => void navigate({ search: checked ? { ended: true } : {}, replace: true })}
          label="Show ended deployments"
        />
      </div>
      <Card flush>
        <QueryView
          query={deployments}
          flush
          failed="Your deployments could not be loaded"
          pending={<ListSkeleton rowHeight={ROW_HEIGHT} />}
          isEmpty={({ pages }) => pages[0]?.pods.length === 0}
          empty={
            <EmptyState
              icon={<Rocket aria-hidden />}
              title="Nothing is deployed"
              description="Deploy a model to chat with it here and call it with any OpenAI client."
              action={<Button onClick={() => setChoosing(true)}>Deploy a model</Button>}
            />
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
      <StarterChatCard above={deployments} />
      {choosing && <ChooseModelDialog onClose={() => setChoosing(false)} />}
    </>
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
        <p className="font-mono text-muted text-xs">{pod.model_name}</p>
      </div>
    ),
  },
  { id: 'status', header: 'Status', cell: (pod) => <StatusBadge status={pod.status} />, width: '8rem' },
  { id: 'base', header: 'Base', cell: (pod) => pod.base_model_title, width: '12rem', hideBelow: 'lg' },
  { id: 'device', header: 'Runs on', cell: (pod) => deviceName(pod.device), width: '10rem', hideBelow: 'md' },
  {
    id: 'used',
    header: 'Last request',
    cell: (pod) => (
      <span className="whitespace-nowrap text-muted">
        {pod.last_request_at ? relativeTime(new Date(pod.last_request_at)) : 'None yet'}
      </span>
    ),
    width: '8rem',
    hideBelow: 'md',
  },
  {
    id: 'cost',
    header: 'Cost so far',
    cell: (pod) => <Money bgl={pod.cost_so_far} />,
    numeric: true,
    width: '7rem',
    hideBelow: 'sm',
  },
];

function Stats({ userId }: { userId: string }) {
  const stats = useDeploymentStats(userId);
  const figures = [
    { label: 'Running', value: stats.data?.running.toLocaleString('en') },
    { label: 'Requests', value: stats.data?.requests.toLocaleString('en') },
    { label: 'Tokens generated', value: stats.data?.completion_tokens.toLocaleString('en') },
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
