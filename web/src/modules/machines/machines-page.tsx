import { Badge } from '../../ui/badge.tsx';
import { Card } from '../../ui/card.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { ListSkeleton } from '../../ui/list-skeleton.tsx';
import { OperatorOnly } from '../../ui/operator-only.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { useUser } from '../accounts/session.ts';
import { describeOffer, type ListedMachine } from './describe-offer.ts';
import { useMachines } from './machine-queries.ts';
import { WorkTable } from './work-table.tsx';

const ROW_HEIGHT = 60;

/** Operator page: the machine, its cluster, and the queue. */
export function MachinesPage() {
  const { is_operator } = useUser();
  const machines = useMachines(is_operator);
  return (
    <OperatorOnly isOperator={is_operator} title="Machines" what="the machines">
      <PageHeader title="Machines" description="Machines that run training and deployments, and the queue." />
      <Card flush>
        <QueryView
          query={machines}
          failed="The machines could not be loaded"
          pending={<ListSkeleton rows={1} rowHeight={ROW_HEIGHT} />}
        >
          {(data) => <MachinesTable machines={data.machines} />}
        </QueryView>
      </Card>
      <WorkTable />
    </OperatorOnly>
  );
}

function MachinesTable({ machines }: { machines: ListedMachine[] }) {
  return (
    <DataTable
      label="Machines"
      rows={machines}
      rowKey={(machine) => machine.machine_id}
      rowHeight={ROW_HEIGHT}
      columns={[
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
          header: 'Offers',
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
      ]}
    />
  );
}

function Offered({ offer }: Pick<ListedMachine, 'offer'>) {
  if (!offer) return <span className="text-muted">Nothing yet</span>;
  const { parts, slots } = describeOffer(offer);
  return (
    <>
      <span className="block max-md:text-[0.8125rem]">{parts}</span>
      <span className="block text-muted text-xs">{slots}</span>
    </>
  );
}
