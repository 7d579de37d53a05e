import type { Deployment } from '@bakehouse/contract/deployments/text';
import type { Column } from '../../../ui/data-table.tsx';
import { Money } from '../../../ui/money.tsx';
import { deviceName } from '../../machines/api.ts';
import { lastRequest } from './deployment-facts.tsx';

/** Where a deployment runs, when it was used last, and what it has cost: the columns that the lists of all kinds have. */
export const deploymentColumns: Column<Pick<Deployment, 'device' | 'last_request_at' | 'cost_so_far'>>[] = [
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
];
