import type { ReactNode } from 'react';
import { ListSkeleton } from './list-skeleton.tsx';
import { Pager, type Pages } from './pager.tsx';
import { QueryView, type ViewedQuery } from './query-view.tsx';

export type PagedListProps<Page, Row> = {
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
