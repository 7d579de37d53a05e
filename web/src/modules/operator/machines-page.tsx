import { Badge } from '../../ui/badge.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { asOnlyPage } from '../../ui/resource/resource-list.tsx';
import { ResourcePage } from '../../ui/resource/resource-page.tsx';
import { ResourceTable } from '../../ui/resource/resource-table.tsx';
import { describeOffer, type ListedMachine } from '../machines/describe-offer.ts';
import { useMachines } from '../machines/machine-queries.ts';
import { WorkTable } from '../machines/work-table.tsx';
import { operatorPage } from './operator-page.tsx';

/** Operator page: the machine, its cluster, and the queue. */
export const MachinesPage = operatorPage('Machines', 'the machines', Machines);

function Machines() {
  return (
    <ResourcePage title="Machines" description="Machines that run training and deployments, and the queue.">
      <ResourceTable
        label="Machines"
        query={asOnlyPage(useMachines())}
        rows={({ machines }) => machines}
        rowKey={(machine) => machine.machine_id}
        rowHeight={60}
        skeletonRows={1}
        columns={columns}
        failed="The machines could not be loaded"
      />
      <WorkTable />
    </ResourcePage>
  );
}

const columns: Column<ListedMachine>[] = [
  {
    id: 'name',
    header: 'Machine',
    width: 'max(15rem, 30%)',
    cell: ({ name, driver, trouble, offer, started_at }) => (
      <>
        <span className="line-clamp-1 break-all font-medium">{name}</span>
        <span className="text-muted text-xs">Driver {driver}</span>
        {trouble !== null && <p className="text-warn text-xs">{trouble}</p>}
        {/* Columns that narrow screens hide. */}
        <div className="mt-1.5 md:hidden">
          <Offered offer={offer} />
        </div>
        <span className="block text-muted text-xs sm:hidden">
          Started <RelativeTime at={started_at} inSentence />
        </span>
      </>
    ),
  },
  {
    id: 'offer',
    header: 'Capacity',
    hideBelow: 'md',
    cell: ({ offer }) => <Offered offer={offer} />,
  },
  {
    id: 'since',
    header: 'Started',
    width: '9rem',
    hideBelow: 'sm',
    cell: ({ started_at }) => <RelativeTime at={started_at} />,
  },
  {
    id: 'seen',
    header: 'Last seen',
    width: '8rem',
    cell: ({ is_present, last_seen_at }) =>
      is_present ? (
        <Badge tone="good">Now</Badge>
      ) : (
        <Badge tone="warn">{last_seen_at ? <RelativeTime at={last_seen_at} /> : 'Not yet'}</Badge>
      ),
  },
];

function Offered({ offer }: Pick<ListedMachine, 'offer'>) {
  if (!offer) return <span className="text-muted">Not known yet</span>;
  const { parts, slots } = describeOffer(offer);
  return (
    <>
      <span className="block max-md:text-compact">{parts}</span>
      <span className="block text-muted text-xs">{slots}</span>
    </>
  );
}
