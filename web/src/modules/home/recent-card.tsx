import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Card } from '../../ui/card.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';

const ROWS = 5;

type Props<Row> = {
  title: string;
  /** The page with all of them. */
  to: LinkProps['to'];
  query: { error: unknown; refetch: () => unknown };
  /** Undefined while they are being read. */
  rows: readonly Row[] | undefined;
  rowKey: (row: Row) => string;
  row: (row: Row) => ReactNode;
  /** What this is for, where there are none. */
  empty: string;
  /** The first thing to do, then. */
  action?: ReactNode;
  /** Lines that are drawn while it loads. */
  skeletons?: number;
};

/** The newest few of a list, in each of its states. */
export function RecentCard<Row>({
  title,
  to,
  query,
  rows,
  rowKey,
  row,
  empty,
  action,
  skeletons = 3,
}: Props<Row>) {
  return (
    <Card
      title={title}
      flush
      actions={
        rows && rows.length > 0 ? (
          <Link to={to} className="rounded text-[0.8125rem] text-muted hover:text-ink hover:underline">
            See all<span className="sr-only">: {title}</span>
          </Link>
        ) : undefined
      }
    >
      {rows ? (
        rows.length > 0 ? (
          <ul className="divide-y divide-line overflow-hidden rounded-b-xl border-line border-t">
            {rows.slice(0, ROWS).map((one) => (
              <li key={rowKey(one)}>{row(one)}</li>
            ))}
          </ul>
        ) : (
          <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3 px-5 pb-5">
            <p className="min-w-0 flex-1 basis-56 text-muted">{empty}</p>
            {action}
          </div>
        )
      ) : query.error ? (
        <ErrorState
          title={`${title} could not be loaded`}
          error={query.error}
          onRetry={() => void query.refetch()}
          compact
        />
      ) : (
        <LoadingRegion label={`Loading ${title.toLowerCase()}`} className="grid gap-5 px-5 pt-1 pb-5">
          {Array.from({ length: skeletons }, (_, index) => (
            <Skeleton key={index} className="h-9" />
          ))}
        </LoadingRegion>
      )}
    </Card>
  );
}
