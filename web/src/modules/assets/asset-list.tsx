import type { AssetSummary } from '@bakehouse/contract/assets';
import { formatBytes } from '@bakehouse/contract/labels';
import type { Run } from '@bakehouse/contract/training';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { formatNumber } from '../../lib/format/format-number.ts';
import { relativeTime } from '../../lib/format/format-time.ts';
import { Badge, TagBadge } from '../../ui/badge.tsx';
import { Card } from '../../ui/card.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ListSkeleton } from '../../ui/list-skeleton.tsx';
import { Pager } from '../../ui/pager.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { SearchInput } from '../../ui/search-input.tsx';
import { Select } from '../../ui/select.tsx';
import { useUser } from '../accounts/api.ts';
import { UnfinishedBadge, useUnfinishedRuns } from '../training/api.ts';
import { assetListQuery } from './api.ts';

const ROW_HEIGHT = 56;

type Sort = 'updated' | 'title' | 'size';

type Props = {
  kind: 'dataset' | 'model';
  search: string;
  sort: Sort;
  onFilter: (filter: { search?: string; sort?: 'title' | 'size' }) => void;
  /** Shown when there is nothing yet. */
  empty: ReactNode;
};

const words = {
  dataset: { many: 'datasets', error: 'Your datasets could not be loaded' },
  model: { many: 'models', error: 'Your models could not be loaded' },
};

/** My Datasets and My Models: search, sort, and one row each. The filter lives in the URL. */
export function AssetList({ kind, search, sort, onFilter, empty }: Props) {
  const user = useUser();
  const navigate = useNavigate();
  const list = useInfiniteQuery(
    assetListQuery(user.id, {
      types: kind === 'dataset' ? 'RAW' : 'MODEL',
      search,
      sort,
      includeStarter: kind === 'model',
    }),
  );
  const rows = list.data?.pages.flatMap((page) => page.datasets) ?? [];
  const runs = useUnfinishedRuns(kind === 'model' ? rows : []);

  return (
    <>
      <AssetFilter kind={kind} search={search} sort={sort} onFilter={onFilter} />
      <Card flush>
        <QueryView
          query={list}
          flush
          failed={words[kind].error}
          pending={<ListSkeleton rows={5} rowHeight={ROW_HEIGHT} />}
          isEmpty={({ pages }) => pages[0]?.datasets.length === 0}
          empty={
            search === '' ? (
              empty
            ) : (
              <EmptyState
                title={`No ${words[kind].many} found`}
                description={`Nothing matches '${search}'.`}
              />
            )
          }
        >
          {() => (
            <DataTable
              label={`My ${words[kind].many}`}
              columns={columnsFor(kind, runs)}
              rows={rows}
              rowKey={(row) => row.dataset_id}
              rowHeight={ROW_HEIGHT}
              more={list.hasNextPage}
              onRowClick={(row) => void navigate({ to: pathOf(kind), params: { id: row.dataset_id } })}
            />
          )}
        </QueryView>
        <Pager pages={list} />
      </Card>
    </>
  );
}

function AssetFilter({ kind, search, sort, onFilter }: Omit<Props, 'empty'>) {
  return (
    <div className="mb-4 flex flex-wrap items-center gap-2">
      <div className="min-w-48 flex-1 sm:max-w-xs">
        <SearchInput
          value={search}
          onChange={(value) =>
            onFilter({ search: value || undefined, sort: sort === 'updated' ? undefined : sort })
          }
          label={`Search ${words[kind].many}`}
        />
      </div>
      <div className="w-40">
        <Select<Sort>
          aria-label="Sort by"
          value={sort}
          onChange={(value) =>
            onFilter({ search: search || undefined, sort: value === 'updated' ? undefined : value })
          }
          options={[
            { value: 'updated', label: 'Last changed' },
            { value: 'title', label: 'Name' },
            { value: 'size', label: 'Size' },
          ]}
        />
      </div>
    </div>
  );
}

function pathOf(kind: Props['kind']) {
  return kind === 'dataset' ? ('/dataset/$id/description' as const) : ('/model/$id/description' as const);
}

function columnsFor(kind: Props['kind'], runs: readonly Run[]): Column<AssetSummary>[] {
  return [
    {
      id: 'title',
      header: 'Name',
      cell: (row) => (
        <div className="min-w-0">
          <Link
            to={pathOf(kind)}
            params={{ id: row.dataset_id }}
            className="rounded font-medium hover:underline [overflow-wrap:anywhere]"
          >
            {row.title}
          </Link>
          <div className="mt-0.5 flex flex-wrap gap-1">
            {row.is_starter && <Badge tone="accent">Starter model</Badge>}
            <UnfinishedBadge model={row} runs={runs} />
            {row.tags.slice(0, 3).map((tag) => (
              <TagBadge key={tag} tag={tag} />
            ))}
          </div>
        </div>
      ),
    },
    {
      id: 'category',
      header: 'Category',
      cell: (row) => row.category || '–',
      width: '12rem',
      hideBelow: 'md',
    },
    {
      id: 'files',
      header: 'Files',
      cell: (row) => formatNumber(row.file_count),
      numeric: true,
      width: '5rem',
      hideBelow: 'sm',
    },
    { id: 'size', header: 'Size', cell: (row) => formatBytes(row.size_bytes), numeric: true, width: '7rem' },
    {
      id: 'updated',
      header: 'Changed',
      cell: (row) => (
        <span className="whitespace-nowrap text-muted">{relativeTime(new Date(row.updated_at))}</span>
      ),
      width: '9rem',
      hideBelow: 'sm',
    },
  ];
}
