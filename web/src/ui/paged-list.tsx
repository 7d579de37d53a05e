import { type ReactNode, useEffect, useEffectEvent, useLayoutEffect, useRef } from 'react';
import { Button } from './button.tsx';
import { Card } from './card.tsx';
import { type Column, DataTable } from './data-table.tsx';
import { QueryView, type ViewedQuery } from './query-view.tsx';
import { ListSkeleton } from './skeleton.tsx';

type PagedListProps<Page, Row> = {
  /** An infinite query. Pages load one at a time as the end of the list scrolls into view. */
  query: ViewedQuery<{ pages: readonly Page[] }> & Pages;
  rows: (page: Page) => readonly Row[];
  /** Error title: 'Your datasets could not be loaded'. */
  failed: string;
  /** Shown instead of an empty list. */
  empty: ReactNode;
  /** Minimum row height in pixels. */
  rowHeight: number;
  /** Number of placeholder rows while the first page loads. */
  skeletonRows?: number;
  children: (rows: readonly Row[]) => ReactNode;
};

/** A paginated list in all its states: loading, failed, empty and partly loaded. */
export function PagedList<Page, Row>({
  query,
  rows,
  failed,
  empty,
  rowHeight,
  skeletonRows,
  children,
}: PagedListProps<Page, Row>) {
  return (
    <>
      <QueryView
        query={query}
        failed={failed}
        pending={<ListSkeleton rows={skeletonRows} rowHeight={rowHeight} />}
        isEmpty={({ pages }) => pages.every((page) => rows(page).length === 0)}
        empty={empty}
        flush
      >
        {({ pages }) => children(pages.flatMap((page) => rows(page)))}
      </QueryView>
      <Pager pages={query} />
    </>
  );
}

type Props<Page, Row> = Omit<PagedListProps<Page, Row>, 'rowHeight' | 'children'> & {
  /** Accessible name of the table. */
  label: string;
  /** Shown above the table. */
  title?: string;
  columns: readonly Column<Row>[];
  rowKey: (row: Row) => string;
  onRowClick?: (row: Row) => void;
  /** Minimum row height in pixels. */
  rowHeight?: number;
};

/** A card with a paginated table. A row that moved between pages while loading is shown once. */
export function PagedTable<Page, Row>({
  label,
  title,
  columns,
  rowKey,
  onRowClick,
  rowHeight = 44,
  ...list
}: Props<Page, Row>) {
  return (
    <Card title={title} flush>
      <PagedList {...list} rowHeight={rowHeight}>
        {(rows) => (
          <DataTable
            label={label}
            columns={columns}
            rows={[...new Map(rows.map((row) => [rowKey(row), row])).values()]}
            rowKey={rowKey}
            rowHeight={rowHeight}
            more={list.query.hasNextPage}
            onRowClick={onRowClick}
          />
        )}
      </PagedList>
    </Card>
  );
}

/** The next-page state of an infinite query. */
export type Pages = {
  hasNextPage: boolean;
  isFetching: boolean;
  isFetchingNextPage: boolean;
  isFetchNextPageError: boolean;
  error: Error | null;
  /** Must not cancel a refetch in progress: its changes would be lost. */
  fetchNextPage: (options: { cancelRefetch: false }) => unknown;
};

/**
 * The end of a paginated list. Loads the next page when it scrolls into view and shows load errors. The
 * button is for keyboard users and retries. Renders nothing once everything is loaded.
 */
export function Pager({ pages }: { pages: Pages }) {
  return pages.hasNextPage ? <NextPage pages={pages} /> : null;
}

function NextPage({ pages }: { pages: Pages }) {
  const { isFetching, isFetchingNextPage, isFetchNextPageError, error } = pages;
  const end = useRef<HTMLDivElement>(null);
  const goOn = () => void pages.fetchNextPage({ cancelRefetch: false });
  const reached = useEffectEvent(goOn);
  // Stop after a failure until the user retries, else it would loop forever.
  const waits = isFetching || isFetchNextPageError;
  // Observe again after every fetch: after a short page the end may still be visible.
  useEffect(() => {
    if (waits || !end.current) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && reached(), {
      rootMargin: '600px',
    });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [waits]);
  // The button disappears with the last page. Keep the focus at the list instead of losing it to the top of
  // the page.
  useLayoutEffect(() => {
    const element = end.current;
    return () => {
      const list = element?.previousElementSibling;
      if (!(list instanceof HTMLElement) || !element?.contains(document.activeElement)) return;
      list.tabIndex = -1;
      list.focus({ preventScroll: true });
    };
  }, []);
  return (
    <div ref={end} className="flex flex-col items-center gap-2 px-5 py-4 text-center">
      {isFetchNextPageError && (
        <p role="alert" className="text-[0.8125rem] text-bad">
          The rest could not be loaded: {error?.message}
        </p>
      )}
      <Button size="sm" loading={isFetchingNextPage} onClick={goOn}>
        {isFetchNextPageError ? 'Try again' : 'Load more'}
      </Button>
    </div>
  );
}
