import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Card } from '../../ui/card.tsx';
import { QueryView, type ViewedQuery } from '../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';

const ROWS = 5;

type Props<Data, Row> = {
  title: string;
  /** The page with the full list. */
  to: LinkProps['to'];
  query: ViewedQuery<Data>;
  rowsOf: (data: Data) => readonly Row[];
  rowKey: (row: Row) => string;
  row: (row: Row) => ReactNode;
  /** Explains the purpose if the list is empty. */
  empty: string;
  /** The first action for an empty list. */
  action?: ReactNode;
  /** Number of placeholder lines. */
  skeletons?: number;
};

/** The newest items of a list, with its loading, empty and error states. */
export function RecentCard<Data, Row>({
  title,
  to,
  query,
  rowsOf,
  rowKey,
  row,
  empty,
  action,
  skeletons = 3,
}: Props<Data, Row>) {
  const any = query.data !== undefined && rowsOf(query.data).length > 0;
  return (
    <Card
      title={title}
      flush
      actions={
        any ? (
          <Link to={to} className="rounded text-compact text-muted hover:text-ink hover:underline">
            See all<span className="sr-only">: {title}</span>
          </Link>
        ) : undefined
      }
    >
      <QueryView
        query={query}
        failed={`${title} could not be loaded`}
        pending={
          <LoadingRegion label={`Loading ${title.toLowerCase()}`} className="grid gap-5 px-5 pt-1 pb-5">
            {Array.from({ length: skeletons }, (_, index) => (
              <Skeleton key={index} className="h-9" />
            ))}
          </LoadingRegion>
        }
        isEmpty={(data) => rowsOf(data).length === 0}
        empty={
          <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3 px-5 pb-5">
            <p className="min-w-0 flex-1 basis-56 text-pretty text-muted">{empty}</p>
            {action}
          </div>
        }
        compact
        flush
      >
        {(data) => (
          <ul className="divide-y divide-line overflow-hidden rounded-b-xl border-line border-t">
            {rowsOf(data)
              .slice(0, ROWS)
              .map((one) => (
                <li key={rowKey(one)}>{row(one)}</li>
              ))}
          </ul>
        )}
      </QueryView>
    </Card>
  );
}
