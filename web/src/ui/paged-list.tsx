import type { ReactNode } from 'react';
import { ListSkeleton } from './list-skeleton.tsx';
import { Pager, type Pages } from './pager.tsx';
import { QueryView, type ViewedQuery } from './query-view.tsx';

export type PagedListProps<Page, Row> = {
  /** An infinite query; its pages are read one after the other as the end of the list comes into sight. */
  query: ViewedQuery<{ pages: readonly Page[] }> & Pages;
  /** The rows of one page. */
  rows: (page: Page) => readonly Row[];
  /** Says what could not be loaded: 'Your datasets could not be loaded'. */
  failed: string;
  /** In place of the list where there is no row. */
  empty: ReactNode;
  /** Pixels that a row has at least. */
  rowHeight: number;
  /** How many rows stand there while the first page is read. */
  skeletonRows?: number;
  children: (rows: readonly Row[]) => ReactNode;
};

/** A list that comes page by page, in each of its states: loading, failed, empty, there, with more to come. */
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
