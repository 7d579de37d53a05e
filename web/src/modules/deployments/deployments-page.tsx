import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Power, Rocket } from 'lucide-react';
import { useState } from 'react';
import { formatNumber } from '../../lib/format/format-number.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Figure } from '../../ui/figure.tsx';
import { Money } from '../../ui/money.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { PagedTable } from '../../ui/paged-table.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { Segmented } from '../../ui/segmented.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { useUser } from '../accounts/session.ts';
import { deviceName } from '../machines/devices.ts';
import { StarterChatCard } from './chat/starter-chat-card.tsx';
import { DeployDialog } from './deploy/deploy-dialog.tsx';
import { lastRequest } from './details/deployment-facts.tsx';
import { type Deployment, type Family, families, kindRow, linkTo, statusWord } from './kinds.ts';
import { DeploymentFilters, NoDeploymentsFound } from './list/deployment-filters.tsx';
import { type DeploymentsSearch, isNarrowed } from './list/deployments-search.ts';
import { useActiveKontextDeployment } from './own-image-models.ts';
import { TerminateDialog } from './terminate-dialog.tsx';
import { useDeploymentStats, useDeployments } from './use-deployments.ts';

export const TextDeploymentsPage = () => <DeploymentsPage family="text" />;
export const ImageDeploymentsPage = () => <DeploymentsPage family="image" />;

/** The deployments of a family, narrowed by what stands in the address. */
function DeploymentsPage({ family }: { family: Family }) {
  const { deploy: chosen, ...shown }: DeploymentsSearch = useSearch({ strict: false });
  const navigate = useNavigate();
  const words = families[family];
  const show = (search: DeploymentsSearch) => void navigate({ to: words.list, search, replace: true });
  const [choosing, setChoosing] = useState(false);
  const deployments = useDeployments(family, shown);
  const close = () => {
    setChoosing(false);
    if (chosen !== undefined) show(shown);
  };
  return (
    <>
      <PageHeader
        title="Deploy Models"
        description={words.about}
        actions={
          <Button variant="primary" onClick={() => setChoosing(true)}>
            <Rocket aria-hidden />
            {words.deploy}
          </Button>
        }
      />
      <Segmented
        label="Which deployments"
        value={family}
        onChange={(next) => void navigate({ to: families[next].list })}
        options={(['text', 'image'] as const).map((value) => ({ value, label: families[value].label }))}
        className="mb-5"
      />
      {family === 'text' && <Stats />}
      <DeploymentFilters shown={shown} onChange={show} />
      <DeploymentTable
        family={family}
        deployments={deployments}
        isNarrowed={isNarrowed(shown)}
        onDeploy={() => setChoosing(true)}
      />
      {family === 'text' && <StarterChatCard above={deployments} />}
      {(choosing || chosen !== undefined) && (
        <DeployDialog key={chosen} family={family} chosen={chosen ?? null} onClose={close} />
      )}
    </>
  );
}

type TableProps = {
  family: Family;
  deployments: ReturnType<typeof useDeployments>;
  isNarrowed: boolean;
  onDeploy: () => void;
};

function DeploymentTable({ family, deployments, isNarrowed: narrowed, onDeploy }: TableProps) {
  const navigate = useNavigate();
  const [ending, setEnding] = useState<Deployment | null>(null);
  const { none, noneAbout, deploy } = families[family];
  return (
    <>
      <PagedTable
        label="Deployments"
        query={deployments}
        rows={(page) => page.deployments}
        rowKey={({ pod_id }) => pod_id}
        rowHeight={60}
        columns={columnsOf(family, setEnding)}
        onRowClick={(deployment) => void navigate(linkTo(deployment))}
        failed="Your deployments could not be loaded"
        empty={
          narrowed ? (
            <NoDeploymentsFound />
          ) : (
            <EmptyState
              icon={<Rocket aria-hidden />}
              title={none}
              description={noneAbout}
              action={<Button onClick={onDeploy}>{deploy}</Button>}
            />
          )
        }
      />
      {ending && <TerminateDialog deployment={ending} onClose={() => setEnding(null)} />}
    </>
  );
}

const columnsOf = (family: Family, onTerminate: (deployment: Deployment) => void): Column<Deployment>[] => [
  { id: 'title', header: 'Model', cell: (deployment) => <Name deployment={deployment} /> },
  {
    id: 'status',
    header: 'Status',
    cell: ({ status }) => <StatusBadge status={statusWord(status)} />,
    width: '8rem',
  },
  {
    id: 'kind',
    ...families[family].kindColumn,
    cell: (deployment) =>
      deployment.kind === 'text' ? deployment.base_model_title : kindRow(deployment.kind).label,
  },
  {
    id: 'device',
    header: 'Runs on',
    cell: ({ device }) => deviceName(device),
    width: '10rem',
    hideBelow: 'md',
  },
  {
    id: 'used',
    header: 'Last request',
    cell: (deployment) => <span className="whitespace-nowrap text-muted">{lastRequest(deployment)}</span>,
    width: '8rem',
    hideBelow: 'lg',
  },
  {
    id: 'cost',
    header: 'Cost so far',
    cell: ({ cost_so_far }) => <Money bgl={cost_so_far} />,
    numeric: true,
    width: '7rem',
    hideBelow: 'sm',
  },
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
    control: true,
  },
];

/** The title, and under it what tells a deployment from another one of the same model. */
function Name({ deployment }: { deployment: Deployment }) {
  const { kind, title, model_name, created_at } = deployment;
  return (
    <div className="min-w-0">
      <div className="flex flex-wrap items-center gap-x-2">
        <Link
          {...linkTo(deployment)}
          className="rounded font-medium hover:underline [overflow-wrap:anywhere]"
        >
          {title}
        </Link>
        {kind === 'flux-kontext' && <ActiveBadge podId={deployment.pod_id} />}
      </div>
      <p className="text-muted text-xs">
        <span className="font-mono [overflow-wrap:anywhere]">{model_name}</span>
        {' · deployed '}
        <RelativeTime at={created_at} inSentence />
      </p>
    </div>
  );
}

/** Beside the one that edits pictures unless another is chosen. */
function ActiveBadge({ podId }: { podId: string }) {
  const active = useActiveKontextDeployment(useUser().id);
  return active?.pod_id === podId && <Badge tone="good">Active Kontext deployment</Badge>;
}

function Stats() {
  const stats = useDeploymentStats(useUser().id);
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
