import type { ComponentProps, ReactNode } from 'react';
import { Card } from '../card.tsx';
import { EmptyState } from '../empty-state.tsx';
import { ListSkeleton } from '../list-skeleton.tsx';
import { Pager, type Pages } from '../pager.tsx';
import { QueryView, type ViewedQuery } from '../query-view.tsx';

export type ResourceProps<Page, Row> = Pick<
  ComponentProps<typeof Card>,
  'title' | 'description' | 'actions'
> & {
  /** An infinite query. Pages load one at a time as the end of the list scrolls into view. */
  query: ViewedQuery<{ pages: readonly Page[] }> & Pages;
  rows: (page: Page) => readonly Row[];
  rowKey: (row: Row) => string;
  /** Error title: 'Your datasets could not be loaded'. */
  failed: string;
  /** Shown instead of an empty list. */
  empty?: ComponentProps<typeof EmptyState>;
  /** Minimum row height in pixels. */
  rowHeight?: number;
  /** Number of placeholder rows while the first page loads. */
  skeletonRows?: number;
  /** Shown above the rows. */
  filter?: ReactNode;
};

type CardProps<Page, Row> = ResourceProps<Page, Row> & { children: (rows: readonly Row[]) => ReactNode };

/**
 * A card with a list in all its states: loading, failed, empty and partly loaded. A row that moved between pages
 * while loading is shown once.
 */
export function ResourceCard<Page, Row>({
  query,
  rows,
  rowKey,
  failed,
  empty,
  rowHeight = 44,
  skeletonRows,
  filter,
  children,
  ...card
}: CardProps<Page, Row>) {
  return (
    <Card {...card} flush>
      {filter}
      <QueryView
        query={query}
        failed={failed}
        pending={<ListSkeleton rows={skeletonRows} rowHeight={rowHeight} />}
        isEmpty={({ pages }) => empty !== undefined && pages.every((page) => rows(page).length === 0)}
        empty={empty && <EmptyState {...empty} />}
        flush
      >
        {({ pages }) => {
          const all = pages.flatMap((page) => rows(page));
          return children([...new Map(all.map((row) => [rowKey(row), row])).values()]);
        }}
      </QueryView>
      <Pager pages={query} />
    </Card>
  );
}

type ListProps<Page, Row> = ResourceProps<Page, Row> & {
  /** Accessible name of the list. */
  label?: string;
  item: (row: Row) => ReactNode;
};

/** A card with a paginated list. */
export function ResourceList<Page, Row>({ label, item, ...card }: ListProps<Page, Row>) {
  return (
    <ResourceCard {...card}>
      {(rows) => (
        <ul aria-label={label} className="divide-y divide-line">
          {rows.map((row) => (
            <li key={card.rowKey(row)}>{item(row)}</li>
          ))}
        </ul>
      )}
    </ResourceCard>
  );
}

/** Makes a query of all rows look like the first and only page of a list. */
export function asOnlyPage<Page>(query: ViewedQuery<Page>): ResourceProps<Page, unknown>['query'] {
  return {
    ...query,
    data: query.data === undefined ? undefined : { pages: [query.data] },
    error: query.error as Error | null,
    hasNextPage: false,
    isFetchingNextPage: false,
    isFetchNextPageError: false,
    fetchNextPage: () => undefined,
  };
}
