import type { AssetSummary } from '@bakehouse/contract/assets';
import { formatBytes } from '@bakehouse/contract/labels';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { X } from 'lucide-react';
import type { ComponentProps, ReactNode } from 'react';
import { formatNumber } from '../../lib/format/format-number.ts';
import { useUrlSearch } from '../../lib/url-search.ts';
import { Badge, TagBadge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/data-table.tsx';
import type { EmptyState } from '../../ui/empty-state.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { FilterBar } from '../../ui/resource/filter-bar.tsx';
import { ResourceTable } from '../../ui/resource/resource-table.tsx';
import { useUser } from '../accounts/session.ts';
import { assetListQuery } from './asset-queries.ts';
import type { AssetListSearch } from './asset-search.ts';
import { VisibilityBadge } from './sharing/visibility-badge.tsx';

type Props = {
  kind: 'dataset' | 'model';
  /** A badge next to a row's title; `rows` are all listed assets. */
  badge?: (row: AssetSummary, rows: readonly AssetSummary[]) => ReactNode;
  /** Shown if the user has no datasets or no models. */
  empty: ComponentProps<typeof EmptyState>;
};

const words = {
  dataset: { many: 'datasets', error: 'Your datasets could not be loaded' },
  model: { many: 'models', error: 'Your models could not be loaded' },
};

/** My Datasets and My Models: search, tag, sort, and one row each. The filter lives in the URL. */
export function AssetList({ kind, badge, empty }: Props) {
  const user = useUser();
  const navigate = useNavigate();
  const [filter, change] = useUrlSearch<AssetListSearch>();
  const { search, tag, sort, whose } = filter;
  const list = useInfiniteQuery(
    assetListQuery(user.id, {
      types: kind === 'dataset' ? 'RAW' : 'MODEL',
      search,
      tag,
      sort,
      whose,
      ...(!whose && { include: { include_starter: 'true' } }),
    }),
  );
  const rows = list.data?.pages.flatMap((page) => page.datasets) ?? [];

  return (
    <>
      <FilterBar filters={filtersFor(words[kind].many)}>
        {tag && (
          <Button onClick={() => change({ tag: undefined })}>
            <span className="max-w-48 truncate">Tag: {tag}</span>
            <X aria-hidden />
            <span className="sr-only">, show all</span>
          </Button>
        )}
      </FilterBar>
      <ResourceTable
        label={`My ${words[kind].many}`}
        query={list}
        rows={(page) => page.datasets}
        rowKey={(row) => row.dataset_id}
        rowHeight={56}
        skeletonRows={5}
        columns={columnsFor(kind, {
          userId: user.id,
          badge: (row) => badge?.(row, rows),
          onTag: (chosen) => change({ tag: chosen }),
        })}
        onRowClick={(row) => void navigate({ to: pathOf(kind), params: { id: row.dataset_id } })}
        failed={words[kind].error}
        empty={
          search || tag
            ? { title: `No ${words[kind].many} found`, description: noneText(filter) }
            : whose
              ? { title: none[whose].title(words[kind].many), description: none[whose].text }
              : empty
        }
      />
    </>
  );
}

const none = {
  shared: {
    title: (many: string) => `No ${many} are shared with you`,
    text: 'Items that other users share with you appear here.',
  },
  published: {
    title: (many: string) => `No published ${many} yet`,
    text: 'Items published by any user appear here. To publish yours, use Share on its page.',
  },
};

function noneText({ search, tag }: AssetListSearch): string {
  if (!tag) return `Nothing matches '${search}'.`;
  return search ? `Nothing with the tag '${tag}' matches '${search}'.` : `Nothing has the tag '${tag}'.`;
}

const filtersFor = (many: string) => [
  { name: 'search', label: `Search ${many}` },
  {
    name: 'sort',
    label: 'Sort by',
    options: [
      { value: 'updated', label: 'Last changed' },
      { value: 'title', label: 'Name' },
      { value: 'size', label: 'Size' },
    ],
  },
  {
    name: 'whose',
    label: `Whose ${many}`,
    segmented: true,
    options: [
      { value: 'own', label: 'Yours' },
      { value: 'shared', label: 'Shared with you' },
      { value: 'published', label: 'Published' },
    ],
  },
];

function pathOf(kind: Props['kind']) {
  return kind === 'dataset' ? ('/dataset/$id/description' as const) : ('/model/$id/description' as const);
}

type RowParts = { userId: string; badge: (row: AssetSummary) => ReactNode; onTag: (tag: string) => void };

function columnsFor(kind: Props['kind'], { userId, badge, onTag }: RowParts): Column<AssetSummary>[] {
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
          <div className="mt-0.5 flex flex-wrap items-center gap-1">
            {row.is_starter ? (
              <Badge tone="accent">Starter {kind}</Badge>
            ) : (
              <VisibilityBadge asset={row} isOwn={row.user_id === userId} />
            )}
            {!row.is_starter && row.user_id !== userId && (
              <span className="text-muted text-xs [overflow-wrap:anywhere]">by {row.owner_username}</span>
            )}
            {badge(row)}
            {row.tags.slice(0, 3).map((tag) => (
              <button
                key={tag}
                type="button"
                title="Filter by this tag"
                onClick={() => onTag(tag)}
                className="flex max-w-40 rounded-md sm:max-w-80"
              >
                <TagBadge tag={tag} />
              </button>
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
        <span className="whitespace-nowrap text-muted">
          <RelativeTime at={row.updated_at} />
        </span>
      ),
      width: '9rem',
      hideBelow: 'sm',
    },
  ];
}
