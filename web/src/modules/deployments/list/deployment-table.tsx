import { Link, useNavigate } from '@tanstack/react-router';
import { Power, Rocket } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import type { Column } from '../../../ui/data-table.tsx';
import { Money } from '../../../ui/money.tsx';
import { RelativeTime } from '../../../ui/relative-time.tsx';
import { ResourceTable } from '../../../ui/resource/resource-table.tsx';
import { StatusBadge } from '../../../ui/status-badge.tsx';
import { useUser } from '../../accounts/session.ts';
import { deviceName } from '../../machines/devices.ts';
import { lastRequest } from '../details/deployment-facts.tsx';
import { type Deployment, type Family, families, kindRow, linkTo, statusWord } from '../kinds.ts';
import { useActiveKontextDeployment } from '../own-image-models.ts';
import { TerminateDialog } from '../terminate-dialog.tsx';
import type { useDeployments } from '../use-deployments.ts';

/** Search, status filter and sort order of a deployment list. */
export const deploymentFilterFields = [
  { name: 'search', label: 'Search deployments' },
  {
    name: 'status',
    label: 'Status',
    options: [
      { value: 'live', label: 'Active' },
      { value: 'running', label: 'Running' },
      { value: 'sleeping', label: 'Sleeping' },
      { value: 'failed', label: 'Failed' },
      { value: 'terminated', label: 'Terminated' },
      { value: 'all', label: 'All' },
    ],
  },
  {
    name: 'sort',
    label: 'Sort by',
    options: [
      { value: 'created', label: 'Newest' },
      { value: 'title', label: 'Name' },
    ],
  },
];

type TableProps = {
  family: Family;
  deployments: ReturnType<typeof useDeployments>;
  isNarrowed: boolean;
  onDeploy: () => void;
};

export function DeploymentTable({ family, deployments, isNarrowed, onDeploy }: TableProps) {
  const navigate = useNavigate();
  const [ending, setEnding] = useState<Deployment | null>(null);
  const { none, noneAbout, deploy } = families[family];
  return (
    <>
      <ResourceTable
        label="Deployments"
        query={deployments}
        rows={(page) => page.deployments}
        rowKey={({ pod_id }) => pod_id}
        rowHeight={60}
        columns={columnsOf(family, setEnding)}
        onRowClick={(deployment) => void navigate(linkTo(deployment))}
        failed="Your deployments could not be loaded"
        empty={
          isNarrowed
            ? { title: 'No deployments found', description: 'No deployments match your search and filter.' }
            : {
                icon: <Rocket aria-hidden />,
                title: none,
                description: noneAbout,
                action: <Button onClick={onDeploy}>{deploy}</Button>,
              }
        }
      />
      {ending && <TerminateDialog deployment={ending} onClose={() => setEnding(null)} />}
    </>
  );
}

type OnTerminate = (deployment: Deployment) => void;

const columnsOf = (family: Family, onTerminate: OnTerminate): Column<Deployment>[] => [
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
  endColumn(onTerminate),
];

const endColumn = (onTerminate: OnTerminate): Column<Deployment> => ({
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
});

/** The title, and details that distinguish deployments of the same model. */
function Name({ deployment }: { deployment: Deployment }) {
  const { kind, model_name, created_at } = deployment;
  return (
    <div className="min-w-0">
      <div className="flex flex-wrap items-center gap-x-2">
        <TitleLink deployment={deployment} />
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

function TitleLink({ deployment }: { deployment: Deployment }) {
  return (
    <Link {...linkTo(deployment)} className="rounded font-medium hover:underline [overflow-wrap:anywhere]">
      {deployment.title}
    </Link>
  );
}

/** Marks the deployment that edits pictures by default. */
function ActiveBadge({ podId }: { podId: string }) {
  const active = useActiveKontextDeployment(useUser().id);
  return active?.pod_id === podId && <Badge tone="good">Active Kontext deployment</Badge>;
}
