import type { ImageDeployment } from '@bakehouse/contract/image-deployments';
import { getRouteApi, Link } from '@tanstack/react-router';
import { ImagePlus, Power, Rocket } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { type Column, DataTable } from '../../../ui/data-table.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { ListSkeleton } from '../../../ui/list-skeleton.tsx';
import { PageHeader } from '../../../ui/page-header.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { StatusBadge } from '../../../ui/status-badge.tsx';
import { DeploymentListSwitch } from '../deployment-list-switch.tsx';
import { deploymentColumns } from '../details/deployment-columns.tsx';
import { useActiveKontextDeployment, useImageDeployments } from './calls.ts';
import { DeployImageDialog } from './deploy-image-dialog.tsx';
import { imageKinds, statusWord } from './kinds.ts';
import { TerminateImageDialog } from './terminate-image-dialog.tsx';

const route = getRouteApi('/app/my-deployments/images');

const ROW_HEIGHT = 60;

/** The user's FLUX and Kontext deployments. */
export function ImageDeploymentsPage() {
  const { deploy: chosen } = route.useSearch();
  const navigate = route.useNavigate();
  const [choosing, setChoosing] = useState(false);
  const close = () => {
    setChoosing(false);
    if (chosen !== undefined) void navigate({ search: {}, replace: true });
  };
  const [ending, setEnding] = useState<ImageDeployment | null>(null);
  const kontext = useImageDeployments('flux-kontext');
  const flux = useImageDeployments('flux');
  const both = bothOf(kontext, flux);
  const active = useActiveKontextDeployment();
  return (
    <>
      <PageHeader
        title="Deploy Models"
        description="Your own models that generate and edit pictures. While nobody uses them, they sleep and cost nothing."
        actions={
          <Button variant="primary" onClick={() => setChoosing(true)}>
            <Rocket aria-hidden />
            Deploy an image model
          </Button>
        }
      />
      <DeploymentListSwitch shown="images" />
      <Card flush>
        <QueryView
          query={both}
          flush
          failed="Your deployments could not be loaded"
          pending={<ListSkeleton rowHeight={ROW_HEIGHT} />}
          isEmpty={(rows) => rows.length === 0}
          empty={
            <EmptyState
              icon={<ImagePlus aria-hidden />}
              title="No image model is deployed"
              description="Deploy Kontext to edit pictures with a model of your own, or FLUX to generate them."
              action={<Button onClick={() => setChoosing(true)}>Deploy an image model</Button>}
            />
          }
        >
          {(rows) => (
            <DataTable
              label="Image deployments"
              columns={columnsOf({ activeId: active?.pod_id ?? null, onTerminate: setEnding })}
              rows={rows}
              rowKey={({ pod_id }) => pod_id}
              rowHeight={ROW_HEIGHT}
            />
          )}
        </QueryView>
      </Card>
      {(choosing || chosen !== undefined) && (
        <DeployImageDialog key={chosen} chosen={chosen ?? null} onClose={close} />
      )}
      {ending && <TerminateImageDialog deployment={ending} onClose={() => setEnding(null)} />}
    </>
  );
}

type ListQuery = ReturnType<typeof useImageDeployments>;

/** Both lists as one, newest first; it is there once both are. */
function bothOf(one: ListQuery, other: ListQuery) {
  return {
    data:
      one.data &&
      other.data &&
      [...one.data, ...other.data].toSorted((a, b) => b.created_at.localeCompare(a.created_at)),
    error: one.error ?? other.error,
    isError: one.isError || other.isError,
    isFetching: one.isFetching || other.isFetching,
    dataUpdatedAt: Math.min(one.dataUpdatedAt, other.dataUpdatedAt),
    refetch: () => Promise.all([one.refetch(), other.refetch()]),
  };
}

type Row = { activeId: string | null; onTerminate: (deployment: ImageDeployment) => void };

function columnsOf({ activeId, onTerminate }: Row): Column<ImageDeployment>[] {
  return [
    {
      id: 'title',
      header: 'Model',
      cell: (deployment) => <Name deployment={deployment} isActive={deployment.pod_id === activeId} />,
    },
    ...facts,
    {
      id: 'end',
      header: <span className="sr-only">Actions</span>,
      cell: (deployment) =>
        deployment.terminated_at === null && (
          <Button
            variant="ghost"
            size="icon-sm"
            aria-label={`Terminate ${deployment.title}`}
            onClick={() => onTerminate(deployment)}
          >
            <Power aria-hidden />
          </Button>
        ),
      width: '3.5rem',
    },
  ];
}

function Name({ deployment, isActive }: { deployment: ImageDeployment; isActive: boolean }) {
  const { pod_id, title, model_name } = deployment;
  return (
    <div className="min-w-0">
      <div className="flex flex-wrap items-center gap-x-2">
        <Link
          to="/my-deployments/images/$podId"
          params={{ podId: pod_id }}
          className="rounded font-medium hover:underline [overflow-wrap:anywhere]"
        >
          {title}
        </Link>
        {isActive && <Badge tone="good">Active Kontext deployment</Badge>}
      </div>
      <p className="font-mono text-muted text-xs">{model_name}</p>
    </div>
  );
}

const facts: Column<ImageDeployment>[] = [
  {
    id: 'status',
    header: 'Status',
    cell: ({ status }) => <StatusBadge status={statusWord(status)} />,
    width: '8rem',
  },
  { id: 'kind', header: 'Kind', cell: ({ kind }) => imageKinds[kind].label, width: '6rem', hideBelow: 'sm' },
  ...deploymentColumns,
];
