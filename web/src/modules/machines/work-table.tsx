import type { Work } from '@bakehouse/contract/machines';
import { Link } from '@tanstack/react-router';
import { Layers } from 'lucide-react';
import type { Column } from '../../ui/data-table.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { ResourceTable } from '../../ui/resource/resource-table.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { useUser } from '../accounts/session.ts';
import { describeAmount, describeSharing, describeSlots, describeWork } from './describe-work.ts';
import { useWork } from './machine-queries.ts';

const LINK = 'rounded font-medium hover:underline';

/** Running and queued tasks. */
export function WorkTable() {
  const work = useWork();
  const newest = work.data?.pages.at(-1);
  return (
    <div className="mt-8">
      <h2 className="font-semibold text-base">Queue</h2>
      <p className="mt-0.5 mb-3 min-h-5 text-muted">{newest && describeAmount(newest)}</p>
      <ResourceTable
        label="Queue"
        query={work}
        rows={(page) => page.work}
        rowKey={({ work_id }) => work_id}
        rowHeight={60}
        skeletonRows={1}
        columns={columns}
        failed="The queue could not be loaded"
        empty={{
          icon: <Layers aria-hidden />,
          title: 'Nothing is running or waiting',
          description:
            'Training runs, deployments and the models of this server are listed here while they run or wait for a machine.',
        }}
      />
    </div>
  );
}

const columns: Column<Work>[] = [
  { id: 'work', header: 'Work', cell: (work) => <WorkCell work={work} /> },
  {
    id: 'machine',
    header: 'Machine',
    width: '12rem',
    hideBelow: 'md',
    cell: ({ machine }) => machine ?? <span className="text-muted">None yet</span>,
  },
  { id: 'slots', header: 'Slots', width: '11rem', hideBelow: 'md', cell: describeSlots },
  {
    id: 'state',
    header: 'Status',
    width: '9rem',
    cell: ({ state, position, since }) => (
      <>
        <StatusBadge status={state} />
        <span className="mt-0.5 block text-muted text-xs">
          {position !== null && `Number ${position}, `}
          <RelativeTime at={since} inSentence={position !== null} />
        </span>
      </>
    ),
  },
];

function WorkCell({ work }: { work: Work }) {
  return (
    <>
      <span className="[overflow-wrap:anywhere]">
        <WorkName work={work} />
      </span>
      <span className="block text-muted text-xs">
        <Owner work={work} />
        {/* Columns that narrow screens hide. */}
        <span className="md:hidden">
          {' · '}
          {[describeSlots(work), ...(work.machine === null ? [] : [work.machine])].join(' · ')}
        </span>
      </span>
      {work.reason !== '' && <p className="text-xs [overflow-wrap:anywhere]">{work.reason}</p>}
    </>
  );
}

/** Links the user's own tasks to their pages; other users' pages aren't accessible. */
function WorkName({ work }: { work: Work }) {
  const user = useUser();
  const name = describeWork(work);
  const { kind, owner, model_name, pod_id: podId, work_id: id } = work;
  if (owner?.user_id !== user.id) return <span className="font-medium">{name}</span>;
  if (kind === 'run')
    return (
      <Link to="/runs/$id" params={{ id }} className={LINK}>
        {name}
      </Link>
    );
  const page = kind === 'text_deployment' ? '/my-deployments/$podId' : '/my-deployments/images/$podId';
  if (podId !== null && model_name === null)
    return (
      <Link to={page} params={{ podId }} className={LINK}>
        {name}
      </Link>
    );
  return <span className="font-medium">{name}</span>;
}

function Owner({ work }: { work: Work }) {
  const { owner } = work;
  if (owner === null) return describeSharing(work);
  return (
    <Link to="/operator/accounts" search={{ q: owner.user_id }} className="rounded hover:underline">
      {owner.username}
    </Link>
  );
}
