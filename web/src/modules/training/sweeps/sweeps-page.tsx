import type { ListedSweep } from '@bakehouse/contract/sweeps';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Grid2x2, Plus } from 'lucide-react';
import { useSheets } from '../../../lib/sheet.ts';
import { Button } from '../../../ui/button.tsx';
import type { Column } from '../../../ui/data-table.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { Money } from '../../../ui/money.tsx';
import { PageHeader } from '../../../ui/page-header.tsx';
import { PagedTable } from '../../../ui/paged-table.tsx';
import { RelativeTime } from '../../../ui/relative-time.tsx';
import { SearchInput } from '../../../ui/search-input.tsx';
import { StatusBadge } from '../../../ui/status-badge.tsx';
import { labelOf, progressSentence, sweepState } from './describe-sweep.ts';
import { useSweeps } from './sweep-calls.ts';

const route = getRouteApi('/app/sweeps');

/** The sweeps that somebody has, and the way to another. */
export function SweepsPage() {
  const { search } = route.useSearch();
  const navigate = route.useNavigate();
  const sheets = useSheets();
  const create = (
    <Button variant="primary" onClick={() => sheets.open('create-model', { modelType: 'finetune' })}>
      <Plus aria-hidden />
      New fine-tune
    </Button>
  );
  return (
    <>
      <PageHeader
        title="Sweeps"
        description="Fine-tunes that try several values of one or two parameters."
        parents={[{ label: 'LLM Training', to: '/llm-training' }]}
        actions={create}
      />
      <div className="mb-4 sm:max-w-xs">
        <SearchInput
          label="Search sweeps"
          value={search ?? ''}
          onChange={(value) => void navigate({ search: value ? { search: value } : {}, replace: true })}
        />
      </div>
      <PagedTable
        label="Sweeps"
        query={useSweeps(search)}
        rows={(page) => page.sweeps}
        rowKey={(sweep) => sweep.sweep_id}
        rowHeight={60}
        columns={columns}
        onRowClick={({ sweep_id: id }) => void navigate({ to: '/sweeps/$id', params: { id } })}
        failed="Your sweeps could not be loaded"
        empty={
          search ? (
            <EmptyState title="No sweeps found" description="No sweeps match your search." />
          ) : (
            <EmptyState
              icon={<Grid2x2 aria-hidden />}
              title="No sweeps yet"
              description="Open Sweep in the parameters of a fine-tune to try several learning rates or ranks at once."
              action={create}
            />
          )
        }
      />
    </>
  );
}

const columns: Column<ListedSweep>[] = [
  {
    id: 'title',
    header: 'Sweep',
    cell: ({ sweep_id: id, title, parameters }) => (
      <div className="min-w-0">
        <Link
          to="/sweeps/$id"
          params={{ id }}
          className="rounded font-medium hover:underline [overflow-wrap:anywhere]"
        >
          {title}
        </Link>
        <p className="text-muted text-xs">{parameters.map(labelOf).join(' and ')}</p>
      </div>
    ),
  },
  {
    id: 'state',
    header: 'State',
    cell: (sweep) => <StatusBadge status={sweepState(sweep)} />,
    width: '8rem',
  },
  {
    id: 'progress',
    header: 'Progress',
    cell: (sweep) => <span className="text-muted">{progressSentence(sweep)}</span>,
    width: '15rem',
    hideBelow: 'md',
  },
  {
    id: 'cost',
    header: 'Cost so far',
    cell: ({ cost_so_far: cost }) => <Money bgl={cost} />,
    numeric: true,
    width: '8rem',
    hideBelow: 'sm',
  },
  {
    id: 'created',
    header: 'Created',
    cell: ({ created_at: at }) => (
      <span className="whitespace-nowrap text-muted">
        <RelativeTime at={at} />
      </span>
    ),
    width: '9rem',
    hideBelow: 'lg',
  },
];
