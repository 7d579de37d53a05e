import type { ImageDeployment } from '@bakehouse/contract/deployments/images';
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
import { Pager } from '../../../ui/pager.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { StatusBadge } from '../../../ui/status-badge.tsx';
import { useUser } from '../../accounts/api.ts';
import { DeploymentListSwitch } from '../deployment-list-switch.tsx';
import { deploymentColumns } from '../details/deployment-columns.tsx';
import { NameLine } from '../details/name-line.tsx';
import { DeploymentFilters, NoDeploymentsFound } from '../list/deployment-filters.tsx';
import { isNarrowed } from '../list/deployments-search.ts';
import { useActiveKontextDeployment, useImageDeployments } from './calls.ts';
import { DeployImageDialog } from './deploy-image-dialog.tsx';
import { imageKinds, statusWord } from './kinds.ts';
import { TerminateImageDialog } from './terminate-image-dialog.tsx';

const route = getRouteApi('/app/my-deployments/images');

const ROW_HEIGHT = 60;

/** The user's deployments of image models. */
export function ImageDeploymentsPage() {
  const { deploy: chosen, ...shown } = route.useSearch();
  const navigate = route.useNavigate();
  const [choosing, setChoosing] = useState(false);
  const close = () => {
    setChoosing(false);
    if (chosen !== undefined) void navigate({ search: shown, replace: true });
  };
  const [ending, setEnding] = useState<ImageDeployment | null>(null);
  const deployments = useImageDeployments(shown);
  const active = useActiveKontextDeployment(useUser().id);
  return (
    <>
      <PageHeader
        title="Deploy Models"
        description="Your own models that generate and edit pictures. You pay for the time they are awake, and for each picture."
        actions={
          <Button variant="primary" onClick={() => setChoosing(true)}>
            <Rocket aria-hidden />
            Deploy an image model
          </Button>
        }
      />
      <DeploymentListSwitch shown="images" />
      <DeploymentFilters shown={shown} onChange={(search) => void navigate({ search, replace: true })} />
      <Card flush>
        <QueryView
          query={deployments}
          flush
          failed="Your deployments could not be loaded"
          pending={<ListSkeleton rowHeight={ROW_HEIGHT} />}
          isEmpty={({ pages }) => pages[0]?.deployments.length === 0}
          empty={
            isNarrowed(shown) ? <NoDeploymentsFound /> : <NoneDeployed onDeploy={() => setChoosing(true)} />
          }
        >
          {({ pages }) => (
            <DataTable
              label="Image deployments"
              columns={columnsOf({ activeId: active?.pod_id ?? null, onTerminate: setEnding })}
              rows={pages.flatMap((page) => page.deployments)}
              rowKey={({ pod_id }) => pod_id}
              rowHeight={ROW_HEIGHT}
              more={deployments.hasNextPage}
            />
          )}
        </QueryView>
        <Pager pages={deployments} />
      </Card>
      {(choosing || chosen !== undefined) && (
        <DeployImageDialog key={chosen} chosen={chosen ?? null} onClose={close} />
      )}
      {ending && <TerminateImageDialog deployment={ending} onClose={() => setEnding(null)} />}
    </>
  );
}

function NoneDeployed({ onDeploy }: { onDeploy: () => void }) {
  return (
    <EmptyState
      icon={<ImagePlus aria-hidden />}
      title="No image model is deployed"
      description="Deploy Kontext to edit pictures with a model of your own, or FLUX or Paris to generate them."
      action={<Button onClick={onDeploy}>Deploy an image model</Button>}
    />
  );
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
  const { pod_id, title } = deployment;
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
      <NameLine deployment={deployment} />
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
